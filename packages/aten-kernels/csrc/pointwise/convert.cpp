#include "pointwise/convert.h"

#include <cstring>

#include "iterator/operands.h"
#include "pointwise/convert_loops.h"
#include "pointwise/transpose_copy.h"

namespace flambeau {

namespace {

struct Bytes16 {
  uint64_t a, b;
};

template <class T> void copy_same(char* const* p, const int64_t* s, int64_t n) {
  if (s[0] == sizeof(T) && s[1] == sizeof(T)) {
    std::memcpy(p[0], p[1], static_cast<size_t>(n) * sizeof(T));
    return;
  }
  char *d = p[0], *q = p[1];
  for (int64_t i = 0; i < n; ++i, d += s[0], q += s[1]) *reinterpret_cast<T*>(d) = *reinterpret_cast<const T*>(q);
}

using CopyLoop = void (*)(char* const*, const int64_t*, int64_t);
CopyLoop same_size_loop(int64_t size) {
  switch (size) {
    case 1: return copy_same<uint8_t>;
    case 2: return copy_same<uint16_t>;
    case 4: return copy_same<uint32_t>;
    case 8: return copy_same<uint64_t>;
    default: return copy_same<Bytes16>;
  }
}

}  // namespace

void copy_values(const Tensor& dst, const Tensor& src) {
  if (dst.numel() == 0 || !dst.storage().data) return;  // nothing to write, or a meta tensor
  FL_CHECK_NOT_IMPLEMENTED(src.storage().data, "Cannot copy out of ", device_type_name(src.device().type),
                           " tensor; no data!");
  if (dst.dtype() == src.dtype() && copy_transposed(dst, src)) return;
  CopyLoop loop = dst.dtype() == src.dtype() ? same_size_loop(dst.itemsize()) : convert_loop(src.dtype(), dst.dtype());
  FL_CHECK(loop, "\"copy_\" not implemented from '", dtype_name(src.dtype()), "' to '", dtype_name(dst.dtype()), "'");
  const Tensor operands[2] = {dst, src};
  const Operands iter(dst.sizes(), operands, 2);
  iter.for_each(loop);
}

Tensor converted(const Tensor& t, DType dtype) {
  Tensor out = empty_like(t, dtype);
  if (!t.is_meta()) copy_values(out, t);
  return out;
}

Tensor clone_values(const Tensor& t) {
  Tensor out = empty_like(t, t.dtype());
  copy_values(out, t);
  return out;
}

Tensor contiguous(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor out = empty(t.sizes(), t.options());
  copy_values(out, t);
  return out;
}

const Tensor& copy_(const Tensor& self, const Tensor& src, bool) {
  if (self.is_same(src)) return self;
  FL_CHECK(
      !has_internal_overlap(self),
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before "
      "performing the operation.");
  const auto shape = broadcast_shapes(self.sizes(), src.sizes(), "copy_");
  FL_CHECK(IntList(shape) == self.sizes(), "The expanded size of the tensor ", self.sizes(),
           " must match the existing size ", src.sizes(), " of the source");
  FL_CHECK_NOT_IMPLEMENTED(src.is_cpu() && self.is_cpu(), "Cannot copy out of ", device_type_name(src.device().type),
                           " tensor; no data!");
  copy_values(self, memory_overlap(self, src) == Overlap::Partial ? clone_values(src) : src);
  return self;
}

}  // namespace flambeau
