#include <algorithm>

#include "flambeau/core/tensor.h"

namespace flambeau {

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t n = ndim > 0 ? ndim : 1;
  FL_CHECK_INDEX(dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                 "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

std::string shape_string(IntList sizes) { return concat(sizes); }

std::vector<int64_t> broadcast_shapes(IntList a, IntList b, const char* op) {
  const size_t n = std::max(a.size(), b.size());
  std::vector<int64_t> out(n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    FL_CHECK(x == y || x == 1 || y == 1, "[", op, "] The size of tensor a (", x, ") must match the size of tensor b (",
             y, ") at non-singleton dimension ", n - 1 - i, "; shapes are ", a, " and ", b);
    out[n - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

bool Tensor::is_non_overlapping_and_dense() const {
  if (is_contiguous()) return true;
  const int64_t n = dim();
  int order[256];
  for (int i = 0; i < n; ++i) order[i] = i;
  const int64_t *sz = impl()->sizes(), *st = impl()->strides();
  std::sort(order, order + n, [&](int a, int b) {
    if (sz[a] < 2 || sz[b] < 2) return sz[a] > 1 && sz[b] < 2;
    return st[a] < st[b];
  });
  int64_t expected = 1;
  for (int i = 0; i < n; ++i) {
    if (sz[order[i]] < 2) break;
    if (st[order[i]] != expected) return false;
    expected *= sz[order[i]];
  }
  return true;
}

bool Tensor::is_contiguous(MemoryFormat f) const {
  if (f == MemoryFormat::Contiguous || f == MemoryFormat::Preserve) return is_contiguous();
  const bool three = f == MemoryFormat::ChannelsLast3d;
  const int64_t n = three ? 5 : 4;
  if (dim() != n) return false;
  if (numel() == 0) return true;
  int64_t expected = 1;
  const auto check = [&](int64_t d) {
    const bool ok = size(d) == 1 || stride(d) == expected;
    expected *= size(d);
    return ok;
  };
  bool ok = check(1);
  for (int64_t d = n - 1; d >= 2; --d) ok = ok && check(d);
  return ok && check(0);
}

bool has_internal_overlap(const Tensor& t) {
  if (t.is_contiguous() || t.numel() <= 1) return false;
  for (int64_t i = 0; i < t.dim(); ++i)
    if (t.sizes()[i] > 1 && t.strides()[i] == 0) return true;
  return false;
}

namespace {

struct Span {
  int64_t begin, end;
};  // bytes in the storage, end exclusive

Span byte_span(const Tensor& t) {
  int64_t last = t.storage_offset();
  for (int64_t i = 0; i < t.dim(); ++i) last += (t.sizes()[i] - 1) * t.strides()[i];
  return {t.storage_offset() * t.itemsize(), (last + 1) * t.itemsize()};
}

// The step between bytes that a tensor can touch: the gcd of its strides.
bool interleaved(const Tensor& a, const Tensor& b) {
  int64_t g = 0;
  for (const Tensor* t : {&a, &b})
    for (int64_t i = 0; i < t->dim(); ++i)
      if (t->sizes()[i] > 1) g = std::__gcd(g, t->strides()[i] * t->itemsize());
  if (g == 0) return false;
  const int64_t d = ((b.storage_offset() * b.itemsize() - a.storage_offset() * a.itemsize()) % g + g) % g;
  return d >= a.itemsize() && d + b.itemsize() <= g;
}

}  // namespace

Overlap memory_overlap(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return Overlap::Full;
  if (a.numel() == 0 || b.numel() == 0) return Overlap::None;
  if (a.impl()->storage != b.impl()->storage) {
    // two storages may lend the same memory (two from_numpy of one array)
    if (!a.storage().deleter || !b.storage().deleter || a.is_meta()) return Overlap::None;
    const char *x = a.storage().data, *y = b.storage().data;
    const Span sa = byte_span(a), sb = byte_span(b);
    return x + sa.end <= y + sb.begin || y + sb.end <= x + sa.begin                               ? Overlap::None
           : x + sa.begin == y + sb.begin && a.sizes() == b.sizes() && a.strides() == b.strides() ? Overlap::Full
                                                                                                  : Overlap::Partial;
  }
  const Span sa = byte_span(a), sb = byte_span(b);
  if (sa.end <= sb.begin || sb.end <= sa.begin) return Overlap::None;
  if (a.storage_offset() == b.storage_offset() && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
      a.strides() == b.strides())
    return Overlap::Full;
  return interleaved(a, b) ? Overlap::None : Overlap::Partial;
}

}  // namespace flambeau
