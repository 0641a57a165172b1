// Sums, means and maxima of bags of rows of a table.
#include <limits>

#include "flambeau/ops/_embedding_bag.h"
#include "nn/compute.h"

namespace flambeau {

using namespace nn;

namespace {

enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

struct Bags {
  Tensor index, offset;  // int64, contiguous
  int64_t count, bags, rows, width;
  int64_t begin(int64_t b) const { return offset.data_as<int64_t>()[b]; }
  int64_t end(int64_t b) const { return b + 1 < offset.numel() ? begin(b + 1) : count; }
};

Bags check_bags(const char* op, const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
                const Tensor& scale, bool include_last) {
  FL_CHECK_SHAPE(weight.dim() == 2, "[", op, "] weight has to be a 2D Tensor, but got Tensor of dimension ",
                 weight.dim());
  FL_CHECK_SHAPE(indices.dim() == 1, "[", op, "] input has to be a 1D Tensor, but got Tensor of dimension ",
                 indices.dim());
  FL_CHECK_SHAPE(offsets.dim() == 1, "[", op, "] offsets has to be a 1D Tensor, but got Tensor of dimension ",
                 offsets.dim());
  for (const Tensor* t : {&indices, &offsets})
    FL_CHECK(t->dtype() == DType::Int64 || t->dtype() == DType::Int32, "[", op,
             "] indices and offsets must be int32 or int64, got ", dtype_name(t->dtype()));
  FL_CHECK(mode >= 0 && mode <= 2, "[", op, "] mode must be 0 (sum), 1 (mean) or 2 (max), got ", mode);
  compute_dtype(op, weight.dtype());
  if (scale.defined()) {
    FL_CHECK(mode == kSum,
             "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum'");
    FL_CHECK_SHAPE(scale.sizes() == indices.sizes(), "[", op, "] per_sample_weights must have the shape of indices, ",
                   indices.sizes(), ", got ", scale.sizes());
    check_same_dtype(op, weight, "weight", scale, "per_sample_weights");
  }
  FL_CHECK(!include_last || offsets.numel() >= 1, "include_last_offset: number of offset should be at least 1");
  Bags b{prepared(indices, DType::Int64),
         prepared(offsets, DType::Int64),
         indices.numel(),
         offsets.numel() - include_last,
         weight.sizes()[0],
         weight.sizes()[1]};
  const int64_t* o = b.offset.data_as<int64_t>();
  if (offsets.numel() > 0)
    FL_CHECK(o[0] == 0,
             "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
             "However, got ",
             o[0]);
  for (int64_t i = 0; i < offsets.numel(); ++i)
    FL_CHECK(o[i] <= b.count && (i == 0 || o[i] >= o[i - 1]),
             "offsets must not decrease and the last can not be greater than input's length: ", b.count,
             " but got offsets[", i, "] of ", o[i]);
  return b;
}

void check_rows(const Bags& b) {
  for (int64_t i = 0; i < b.count; ++i) {
    const int64_t k = b.index.data_as<int64_t>()[i];
    FL_CHECK(k >= 0 && k < b.rows, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ", k,
             " with ", b.rows, " rows");
  }
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag_core(const Tensor& weight, const Tensor& indices,
                                                              const Tensor& offsets, bool, int64_t mode, bool,
                                                              const Tensor& per_sample_weights,
                                                              bool include_last_offset, int64_t padding_idx) {
  const Bags b = check_bags("embedding_bag", weight, indices, offsets, mode, per_sample_weights, include_last_offset);
  check_rows(b);
  const DType d = compute_dtype("embedding_bag", weight.dtype());
  const Tensor table = prepared(weight, d), scale = prepared(per_sample_weights, d);
  Tensor out = empty({b.bags, b.width}, weight.options()), bag_of = empty({b.count}, {DType::Int64, weight.device()}),
         size = empty({b.bags}, {DType::Int64, weight.device()}),
         largest = mode == kMax ? empty({b.bags, b.width}, {DType::Int64, weight.device()})
                                : empty({b.bags}, {DType::Int64, weight.device()});
  std::fill_n(largest.data_as<int64_t>(), largest.numel(), mode == kMax ? -1 : 0);
  std::fill_n(bag_of.data_as<int64_t>(), b.count, 0);
  const Output y(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const T* from = table.data_as<T>();
    for_rows(b.bags, b.count / std::max<int64_t>(b.bags, 1) * b.width, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) {
        T* row = y.data<T>() + k * b.width;
        std::fill_n(row, b.width, T(0));
        int64_t used = 0;
        for (int64_t i = b.begin(k); i < b.end(k); ++i) {
          const int64_t at = b.index.data_as<int64_t>()[i];
          bag_of.data_as<int64_t>()[i] = k;
          if (at == padding_idx) continue;
          const T* add = from + at * b.width;
          if (mode == kMax) {
            int64_t* best = largest.data_as<int64_t>() + k * b.width;
            for (int64_t j = 0; j < b.width; ++j)
              if (used == 0 || add[j] > row[j] || add[j] != add[j]) row[j] = add[j], best[j] = at;
          } else {
            const T w = scale.defined() ? scale.data_as<T>()[i] : T(1);
            for (int64_t j = 0; j < b.width; ++j) row[j] += add[j] * w;
          }
          ++used;
        }
        size.data_as<int64_t>()[k] = used;
        if (mode == kMean && used > 0)
          for (int64_t j = 0; j < b.width; ++j) row[j] /= static_cast<T>(used);
      }
    });
  });
  y.finish();
  return {out, bag_of, size, largest};
}

Tensor embedding_bag_weight_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                                     const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights,
                                     bool scale_grad_by_freq, int64_t mode, const Tensor& per_sample_weights,
                                     int64_t padding_idx) {
  const char* op = "_embedding_bag_dense_backward";
  const DType d = compute_dtype(op, grad.dtype());
  const int64_t width = grad.sizes()[1], count = indices.numel(), bags = grad.sizes()[0];
  Tensor out = empty({num_weights, width}, grad.options());
  const Output gw(out, d);
  const Tensor g = prepared(grad, d), at = prepared(indices, DType::Int64), bag = prepared(offset2bag, DType::Int64),
               size = prepared(bag_size, DType::Int64), top = prepared(maximum_indices, DType::Int64),
               scale = prepared(per_sample_weights, d);
  const auto check = [&](int64_t k, int64_t limit) {
    FL_CHECK(k >= 0 && k < limit, "[", op, "] index ", k, " is out of range for ", limit);
  };
  std::vector<int64_t> frequency(static_cast<size_t>(scale_grad_by_freq ? num_weights : 0));
  if (scale_grad_by_freq)
    for (int64_t i = 0; i < count; ++i)
      check(at.data_as<int64_t>()[i], num_weights), ++frequency[static_cast<size_t>(at.data_as<int64_t>()[i])];
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    T* to = gw.data<T>();
    std::fill_n(to, out.numel(), T(0));
    const T* from = g.data_as<T>();
    if (mode == kMax) {
      for (int64_t b = 0; b < bags; ++b)
        for (int64_t j = 0; j < width; ++j) {
          const int64_t k = top.data_as<int64_t>()[b * width + j];
          if (k < 0) continue;  // an empty bag
          check(k, num_weights);
          to[k * width + j] += from[b * width + j];
        }
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t k = at.data_as<int64_t>()[i], b = bag.data_as<int64_t>()[i];
      if (k == padding_idx) continue;
      check(k, num_weights), check(b, bags);
      T factor = scale.defined() ? scale.data_as<T>()[i] : T(1);
      if (mode == kMean) factor /= static_cast<T>(std::max<int64_t>(size.data_as<int64_t>()[b], 1));
      if (scale_grad_by_freq) factor /= static_cast<T>(frequency[static_cast<size_t>(k)]);
      for (int64_t j = 0; j < width; ++j) to[k * width + j] += from[b * width + j] * factor;
    }
  });
  gw.finish();
  return out;
}

Tensor embedding_bag_scale_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                    const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
                                    int64_t padding_idx) {
  const char* op = "_embedding_bag_per_sample_weights_backward";
  check_bags(op, weight, indices, offsets, mode, {}, false);
  const DType d = compute_dtype(op, grad.dtype());
  const Tensor g = prepared(grad, d), table = prepared(weight, d), at = prepared(indices, DType::Int64),
               bag = prepared(offset2bag, DType::Int64);
  Tensor out = empty(indices.sizes(), grad.options());
  const Output y(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const int64_t width = weight.sizes()[1];
    for (int64_t i = 0; i < indices.numel(); ++i) {
      const int64_t k = at.data_as<int64_t>()[i], b = bag.data_as<int64_t>()[i];
      double dot = 0;
      if (k != padding_idx) {
        FL_CHECK(k >= 0 && k < weight.sizes()[0] && b >= 0 && b < grad.sizes()[0], "[", op, "] index ", k, " or bag ",
                 b, " is out of range");
        for (int64_t j = 0; j < width; ++j)
          dot += static_cast<double>(g.data_as<T>()[b * width + j]) *
                 static_cast<double>(table.data_as<T>()[k * width + j]);
      }
      y.data<T>()[i] = static_cast<T>(dot);
    }
  });
  y.finish();
  return out;
}

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag_op(const Tensor& weight, const Tensor& indices,
                                                            const Tensor& offsets, bool scale_grad_by_freq,
                                                            int64_t mode, bool sparse, const Tensor& per_sample_weights,
                                                            bool include_last_offset) {
  return ops::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                             include_last_offset, -1);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag_padded(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
    bool sparse, const Tensor& per_sample_weights, bool include_last_offset, std::optional<int64_t> padding_idx) {
  int64_t padding = -1;
  if (padding_idx) {
    const int64_t rows = weight.dim() ? weight.sizes()[0] : 0;
    FL_CHECK(*padding_idx >= -rows && *padding_idx < rows, "padding_idx must be within the number of embeddings, -",
             rows, " through ", rows - 1, ", but got ", *padding_idx);
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  return ops::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                             include_last_offset, padding);
}

}  // namespace flambeau
