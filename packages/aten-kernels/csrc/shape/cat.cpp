// Concatenation: every input is copied into its place of the result.
#include <cstring>

#include "creation/formats.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "flambeau/ops/cat.h"
#include "flambeau/ops/unsqueeze.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

// torch lets 1-d tensors of size 0 stand among tensors of any rank.
bool is_legacy_empty(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

DType common_dtype(TensorList tensors) {
  DType dtype = tensors[0].dtype();
  bool same = true;
  for (const Tensor& t : tensors) same = same && t.dtype() == dtype;
  if (same) return dtype;
  DType dimensioned = DType::Undefined, zero_dim = DType::Undefined;
  for (const Tensor& t : tensors) {
    DType& group = t.dim() ? dimensioned : zero_dim;
    group = group == DType::Undefined ? t.dtype() : promote_types(group, t.dtype());
  }
  return dimensioned == DType::Undefined ? zero_dim : dimensioned;
}

MemoryFormat common_format(TensorList tensors) {
  for (const MemoryFormat f : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    bool all = true;
    for (const Tensor& t : tensors)
      all = all && t.dim() == (f == MemoryFormat::ChannelsLast ? 4 : 5) && !t.is_contiguous() && t.is_contiguous(f);
    if (all) return f;
  }
  return MemoryFormat::Contiguous;
}

int64_t cat_dim(TensorList tensors, int64_t dim) {
  for (const Tensor& t : tensors)
    if (!is_legacy_empty(t)) return wrap_dim(dim, t.dim());
  return wrap_dim(dim, 1);
}

}  // namespace

TensorSpec cat_shape(TensorList tensors, int64_t dim) {
  FL_CHECK_VALUE(!tensors.empty(), "cat(): expected a non-empty list of Tensors");
  const Tensor* model = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    FL_CHECK(tensors[i].defined(), "cat(): tensor ", i, " of the list is undefined");
    FL_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    FL_CHECK(tensors[i].device() == tensors[0].device(),
             "Expected all tensors to be on the same device, but found at least two devices, ",
             to_string(tensors[0].device()), " and ", to_string(tensors[i].device()));
    if (!model && !is_legacy_empty(tensors[i])) model = &tensors[i];
  }
  const DType dtype = common_dtype(tensors);
  if (!model) {
    cat_dim(tensors, dim);
    return {{0}, dtype, {}};
  }
  dim = wrap_dim(dim, model->dim());
  std::vector<int64_t> sizes = model->sizes().vec();
  sizes[static_cast<size_t>(dim)] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_legacy_empty(t)) continue;
    FL_CHECK(t.dim() == model->dim(), "Tensors must have same number of dimensions: got ", model->dim(), " and ",
             t.dim());
    for (int64_t d = 0; d < t.dim(); ++d)
      FL_CHECK(d == dim || t.sizes()[d] == model->sizes()[d], "Sizes of tensors must match except in dimension ", dim,
               ". Expected size ", model->sizes()[d], " but got size ", t.sizes()[d], " for tensor number ", i,
               " in the list.");
    FL_CHECK(!__builtin_add_overflow(sizes[static_cast<size_t>(dim)], t.sizes()[dim], &sizes[static_cast<size_t>(dim)]),
             "[cat] the sizes of dimension ", dim, " overflow");
  }
  const MemoryFormat format = common_format(tensors);
  if (format == MemoryFormat::Contiguous) return {sizes, dtype, {}};
  std::vector<int64_t> strides = format_strides(sizes, format, "cat");
  return {std::move(sizes), dtype, std::move(strides)};
}

void cat_cpu(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = cat_dim(tensors, dim);
  bool plain = out.is_contiguous();
  for (const Tensor& t : tensors) plain = plain && t.dtype() == out.dtype() && t.is_contiguous();
  if (!plain) {
    int64_t at = 0;
    for (const Tensor& t : tensors) {
      if (is_legacy_empty(t)) continue;
      std::vector<int64_t> sizes = out.sizes().vec();
      sizes[static_cast<size_t>(dim)] = t.sizes()[dim];
      Tensor piece = alias_without_history(out);
      set_geometry(*piece.impl(), sizes, out.strides(), out.storage_offset() + at * out.strides()[dim]);
      copy_values(piece, t);
      at += t.sizes()[dim];
    }
    return;
  }
  int64_t outer = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= out.sizes()[d];
  const int64_t row = out.numel() / outer * out.itemsize();
  ReleaseInterpreter long_work(row * outer > 1 << 20);
  const auto copy_rows = [&](int64_t b, int64_t e) {
    char* at = static_cast<char*>(out.data()) + b * row;
    for (int64_t r = b; r < e; ++r)
      for (const Tensor& t : tensors) {
        const int64_t bytes = t.numel() / outer * t.itemsize();
        if (bytes == 0) continue;
        std::memcpy(at, static_cast<const char*>(t.data()) + r * bytes, static_cast<size_t>(bytes));
        at += bytes;
      }
  };
  if (outer > 1) return parallel_for(0, outer, std::max<int64_t>(1, (1 << 17) / row), copy_rows);
  char* at = static_cast<char*>(out.data());
  for (const Tensor& t : tensors) {
    const int64_t bytes = t.numel() * t.itemsize();
    const char* from = static_cast<const char*>(t.data());
    parallel_for(0, bytes, 1 << 18,
                 [&](int64_t b, int64_t e) { std::memcpy(at + b, from + b, static_cast<size_t>(e - b)); });
    at += bytes;
  }
}

Tensor stack_op(TensorList tensors, int64_t dim) {
  FL_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  dim = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    FL_CHECK(tensors[i].sizes() == tensors[0].sizes(), "stack expects each tensor to be equal size, but got ",
             tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
    parts.push_back(ops::unsqueeze(tensors[i], dim));
  }
  return ops::cat(parts, dim);
}

}  // namespace flambeau
