// Where elements are not zero.
#include <cstring>

#include "index/positions.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

// Truth of every element, row-major: a view of the mask where it is one already.
Tensor truth(const Tensor& self) {
  return contiguous(self.dtype() == DType::Bool ? self : converted(self, DType::Bool));
}

// In bytes, 32 side by side, for as long as a byte can count.
int64_t count_true(const uint8_t* mask, int64_t n) {
  constexpr int kLanes = 32;
  int64_t count = 0, i = 0;
  while (n - i >= kLanes) {
    uint8_t lanes[kLanes] = {};
    for (int round = 0; round < 255 && n - i >= kLanes; ++round, i += kLanes)
      for (int j = 0; j < kLanes; ++j) lanes[j] = static_cast<uint8_t>(lanes[j] + (mask[i + j] != 0));
    for (const uint8_t lane : lanes) count += lane;
  }
  for (; i < n; ++i) count += mask[i] != 0;
  return count;
}

// Writes the coordinates of up to `limit` true elements; coordinate d of element k goes to out[d * column + k *
// row_step].
void write_coordinates(const uint8_t* mask, IntList sizes, int64_t n, int64_t* out, int64_t limit, int64_t column,
                       int64_t row_step) {
  const size_t rank = sizes.size();
  int64_t written = 0;
  std::vector<int64_t> at(rank, 0);
  if (rank == 1) {
    for (int64_t i = 0; i < n && written < limit; ++i) {
      out[written] = i;
      written += mask[i] != 0;
    }
    return;
  }
  const int64_t inner = rank ? sizes[rank - 1] : 1;
  for (int64_t row = 0; row * inner < n && written < limit; ++row) {
    const uint8_t* m = mask + row * inner;
    for (int64_t i = 0; i < inner && written < limit; ++i) {
      if (!m[i]) continue;
      int64_t* to = out + written * row_step;
      for (size_t d = 0; d + 1 < rank; ++d) to[static_cast<int64_t>(d) * column] = at[d];
      to[static_cast<int64_t>(rank - 1) * column] = i;
      ++written;
    }
    for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace

Tensor nonzero_op(const Tensor& self) {
  const Tensor mask = truth(self);
  const uint8_t* m = mask.data_as<uint8_t>();
  const int64_t n = mask.numel(), count = n ? count_true(m, n) : 0;
  // One column a dimension, each of them contiguous: x[mask] reads columns.
  const int64_t sizes[2] = {count, self.dim()}, strides[2] = {1, std::max<int64_t>(count, 1)};
  Tensor out = self.dim() <= 1 ? empty({sizes, 2}, {DType::Int64, self.device()})
                               : empty_strided({sizes, 2}, {strides, 2}, {DType::Int64, self.device()});
  if (self.dim() == 0 || count == 0) return out;
  if (self.dim() == 1) {  // the branchless loop writes one past the last
    std::vector<int64_t> scratch(static_cast<size_t>(count) + 1);
    write_coordinates(m, self.sizes(), n, scratch.data(), count, 1, 1);
    std::memcpy(out.data(), scratch.data(), static_cast<size_t>(count) * 8);
    return out;
  }
  write_coordinates(m, self.sizes(), n, out.data_as<int64_t>(), count, count, 1);
  return out;
}

Tensor nonzero_static_op(const Tensor& self, int64_t size, int64_t fill_value) {
  FL_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer, got ", size);
  const Tensor found = contiguous(nonzero_op(self));
  const int64_t sizes[2] = {size, self.dim()};
  checked_numel({sizes, 2}, "nonzero_static");
  Tensor out = empty({sizes, 2}, {DType::Int64, self.device()});
  int64_t* to = out.data_as<int64_t>();
  const int64_t take = std::min(found.numel(), out.numel());  // rows are whole: both have ndim columns
  if (take) std::memcpy(to, found.data(), static_cast<size_t>(take) * 8);
  std::fill(to + take, to + out.numel(), fill_value);
  return out;
}

}  // namespace flambeau
