// gather, scatter and their kin. Tensors are seen with stride 0 along `dim`, so that one elementwise loop serves every
// geometry: the element of the indexed tensor is at pointer + index * stride.
#include <cmath>
#include <cstring>
#include <limits>

#include "creation/formats.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "index/element_ops.h"
#include "index/gather_scatter.h"
#include "index/positions.h"
#include "iterator/operands.h"
#include "pointwise/convert.h"

namespace flambeau {

Tensor with_geometry(const Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  Tensor out = alias_without_history(t);
  set_geometry(*out.impl(), sizes, strides, offset);
  return out;
}

Tensor at_least_1d(const Tensor& t) {
  if (t.dim() > 0) return t;
  const int64_t one[1] = {1};
  return with_geometry(t, {one, 1}, {one, 1}, t.storage_offset());
}

namespace {

// `t` cut to `sizes` with stride 0 along dim.
Tensor along(const Tensor& t, IntList sizes, int64_t dim) {
  std::vector<int64_t> strides = t.strides().vec();
  strides[static_cast<size_t>(dim)] = 0;
  return with_geometry(t, sizes, strides, t.storage_offset());
}

Tensor cut(const Tensor& t, IntList sizes) {
  return t.sizes() == sizes ? t : with_geometry(t, sizes, t.strides(), t.storage_offset());
}

void check_index_dtype(const Tensor& index, const char* op) {
  FL_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, op,
           "(): Expected dtype int32/int64 for index, got ", dtype_name(index.dtype()));
}

Tensor as_long(const Tensor& index) { return index.dtype() == DType::Int64 ? index : converted(index, DType::Int64); }

// Refuses the whole call before anything is written.
void check_bounds(const Tensor& index, int64_t dim, int64_t size) {
  const Operands iter(index.sizes(), &index, 1);
  iter.for_each([&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t v = *reinterpret_cast<const int64_t*>(p[0] + i * s[0]);
      FL_CHECK(v >= 0 && v < size, "index ", v, " is out of bounds for dimension ", dim, " with size ", size);
    }
  });
}

template <class T> void gather_loop(char* const* p, const int64_t* s, int64_t n, int64_t step) {
  char* out = p[0];
  const char *index = p[1], *self = p[2];
  for (int64_t i = 0; i < n; ++i, out += s[0], index += s[1], self += s[2])
    *reinterpret_cast<T*>(out) = *reinterpret_cast<const T*>(self + *reinterpret_cast<const int64_t*>(index) * step);
}

struct Bytes16 {
  uint64_t a, b;
};

template <class T>
void assign_loop(char* self, int64_t ss, const char* index, int64_t is, int64_t step, const char* source, int64_t cs,
                 int64_t n) {
  for (int64_t i = 0; i < n; ++i, self += ss, index += is, source += cs)
    *reinterpret_cast<T*>(self + *reinterpret_cast<const int64_t*>(index) * step) = *reinterpret_cast<const T*>(source);
}

CombineIndexedLoop assign_of(int64_t size) {
  switch (size) {
    case 1: return &assign_loop<uint8_t>;
    case 2: return &assign_loop<uint16_t>;
    case 4: return &assign_loop<uint32_t>;
    case 8: return &assign_loop<uint64_t>;
    default: return &assign_loop<Bytes16>;
  }
}

void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  FL_CHECK(index.dim() == self.dim(), "Index tensor must have the same number of dimensions as self tensor");
  if (src) FL_CHECK(index.dim() == src->dim(), "Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool self_fits = d == dim || index.sizes()[d] <= self.sizes()[d];
    const bool src_fits = !src || index.sizes()[d] <= src->sizes()[d];
    FL_CHECK(self_fits && src_fits, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
             " apart from dimension ", dim, src ? " and to be no larger than src " : "",
             src ? shape_string(src->sizes()) : "");
  }
}

}  // namespace

// One loop over `index`: parallel over a dimension other than dim, so that elements which meet at one place keep their
// order.
void scatter_with(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, CombineIndexedLoop loop) {
  const int64_t numel = index.numel(), step = self.strides()[dim] * self.itemsize();
  const Tensor operands[3] = {along(self, index.sizes(), dim), index, source};
  const auto run = [&](const Tensor* t) {
    const Operands iter(t[1].sizes(), t, 3);
    iter.for_each(
        [&](char* const* p, const int64_t* s, int64_t n) { loop(p[0], s[0], p[1], s[1], step, p[2], s[2], n); },
        std::numeric_limits<int64_t>::max());
  };
  int64_t wide = -1;
  for (int64_t d = 0; d < index.dim(); ++d)
    if (d != dim && (wide < 0 || index.sizes()[d] > index.sizes()[wide])) wide = d;
  if (numel < (1 << 15) || wide < 0) return run(operands);
  ReleaseInterpreter long_work(true);
  const int64_t width = index.sizes()[wide], grain = std::max<int64_t>(1, (1 << 15) / (numel / width));
  parallel_for(0, width, grain, [&](int64_t b, int64_t e) {
    Tensor part[3];
    for (int k = 0; k < 3; ++k) {
      std::vector<int64_t> sizes = operands[k].sizes().vec();
      if (sizes[static_cast<size_t>(wide)] != 1 || width == 1) sizes[static_cast<size_t>(wide)] = e - b;
      part[k] = with_geometry(operands[k], sizes, operands[k].strides(),
                              operands[k].storage_offset() + b * operands[k].strides()[wide]);
    }
    run(part);
  });
}

TensorSpec gather_shape(const Tensor& self, int64_t dim_, const Tensor& index, bool) {
  const int64_t dim = wrap_dim(dim_, self.dim());
  if (index.numel() == 0) return {index.sizes().vec(), self.dtype(), {}};
  check_index_dtype(index, "gather");
  FL_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(self.dim(), 1),
           "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t d = 0; d < std::min(self.dim(), index.dim()); ++d)
    FL_CHECK(d == dim || index.sizes()[d] <= self.sizes()[d], "Size does not match at dimension ", d,
             " expected index ", index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ",
             dim);
  return {index.sizes().vec(), self.dtype(), {}};
}

void gather_cpu(const Tensor& self_, int64_t dim_, const Tensor& index_, bool, const Tensor& out_) {
  if (index_.numel() == 0) return;
  const Tensor self = at_least_1d(self_), out = at_least_1d(out_), index = as_long(at_least_1d(index_));
  const int64_t dim = wrap_dim(dim_, self.dim()), step = self.strides()[dim] * self.itemsize();
  check_bounds(index, dim, self.sizes()[dim]);
  const Tensor operands[3] = {out, index, along(self, index.sizes(), dim)};
  const Operands iter(index.sizes(), operands, 3);
  iter.for_each([&](char* const* p, const int64_t* s, int64_t n) {
    switch (self.itemsize()) {
      case 1: return gather_loop<uint8_t>(p, s, n, step);
      case 2: return gather_loop<uint16_t>(p, s, n, step);
      case 4: return gather_loop<uint32_t>(p, s, n, step);
      case 8: return gather_loop<uint64_t>(p, s, n, step);
      default: return gather_loop<Bytes16>(p, s, n, step);
    }
  });
}

namespace {

// Everything scatter forms share: 0-d tensors as 1-d, checks, the loop.
const Tensor& scatter_any(const char* op, const Tensor& self_, int64_t dim_, const Tensor& index_,
                          const Tensor& source_, bool broadcast, CombineIndexedLoop loop) {
  const int64_t dim = wrap_dim(dim_, self_.dim());
  if (index_.numel() == 0) return self_;
  check_index_dtype(index_, op);
  const Tensor self = at_least_1d(self_), index = as_long(at_least_1d(index_));
  Tensor source = at_least_1d(source_);
  check_scatter(self, dim, index, broadcast ? nullptr : &source);
  FL_CHECK(self.dtype() == source.dtype(), "scatter(): Expected self.dtype to be equal to src.dtype, got ",
           dtype_name(self.dtype()), " and ", dtype_name(source.dtype()));
  check_bounds(index, dim, self.sizes()[dim]);
  if (broadcast)
    source = with_geometry(source, index.sizes(), std::vector<int64_t>(static_cast<size_t>(index.dim()), 0),
                           source.storage_offset());
  scatter_with(self, dim, index, cut(source, index.sizes()), loop);
  return self_;
}

Tensor number_for(const Tensor& self, const Scalar& value) { return scalar_tensor(value, {self.dtype(), {}}); }

CombineIndexedLoop combine_for(Combine c, const Tensor& self, const char* op) {
  const CombineIndexedLoop loop = combine_indexed_loop(c, self.dtype());
  FL_CHECK_NOT_IMPLEMENTED(loop, "\"", op, "\" not implemented for '", dtype_name(self.dtype()), "'");
  return loop;
}

CombineIndexedLoop legacy_loop(const Tensor& self, std::string_view reduce) {
  FL_CHECK(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply, got '", reduce,
           "'");
  return combine_for(reduce == "add" ? Combine::Add : Combine::Multiply, self, "scatter");
}

}  // namespace

const Tensor& scatter_src_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_any("scatter", self, dim, index, src, false, assign_of(self.itemsize()));
}
const Tensor& scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return scatter_any("scatter", self, dim, index, number_for(self, value), true, assign_of(self.itemsize()));
}
const Tensor& scatter_src_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                  std::string_view reduce) {
  return scatter_any("scatter", self, dim, index, src, false, legacy_loop(self, reduce));
}
const Tensor& scatter_value_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                                    std::string_view reduce) {
  return scatter_any("scatter", self, dim, index, number_for(self, value), true, legacy_loop(self, reduce));
}
const Tensor& scatter_add_op_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_any("scatter_add", self, dim, index, src, false, combine_for(Combine::Add, self, "scatter_add"));
}

// --- reductions
// -----------------------------------------------------------------------------------------------------------

namespace {

struct Reduction {
  Combine combine;
  bool mean;
};

Scalar lowest(DType t) {
  switch (t) {
    case DType::Bool: return Scalar(false);
    case DType::Int8: return Scalar(int64_t{INT8_MIN});
    case DType::Int16: return Scalar(int64_t{INT16_MIN});
    case DType::Int32: return Scalar(int64_t{INT32_MIN});
    case DType::Int64: return Scalar(INT64_MIN);
    default: return is_floating(t) ? Scalar(-HUGE_VAL) : Scalar(int64_t{0});
  }
}
Scalar highest(DType t) {
  switch (t) {
    case DType::Bool: return Scalar(true);
    case DType::UInt8: return Scalar(int64_t{UINT8_MAX});
    case DType::UInt16: return Scalar(int64_t{UINT16_MAX});
    case DType::UInt32: return Scalar(int64_t{UINT32_MAX});
    case DType::UInt64: return Scalar(int64_t{-1});
    case DType::Int8: return Scalar(int64_t{INT8_MAX});
    case DType::Int16: return Scalar(int64_t{INT16_MAX});
    case DType::Int32: return Scalar(int64_t{INT32_MAX});
    case DType::Int64: return Scalar(INT64_MAX);
    default: return Scalar(HUGE_VAL);
  }
}
Scalar identity(const Reduction& r, DType t) {
  switch (r.combine) {
    case Combine::Add: return Scalar(int64_t{0});
    case Combine::Multiply: return Scalar(int64_t{1});
    case Combine::Max: return lowest(t);
    default: return highest(t);
  }
}

template <class T> void divide(char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T& v = *reinterpret_cast<T*>(p[0] + i * s[0]);
    const int64_t count = *reinterpret_cast<const int64_t*>(p[1] + i * s[1]);
    if (count <= 1) continue;
    if constexpr (std::is_integral_v<T>) {
      const int64_t x = static_cast<int64_t>(v), q = x / count;
      v = static_cast<T>(q - ((x % count != 0) && (x < 0)));
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      v /= static_cast<T>(count);
    } else if constexpr (is_complex_v<T>) {
      v.re /= static_cast<decltype(v.re)>(count);
      v.im /= static_cast<decltype(v.im)>(count);
    } else {
      v = T(static_cast<float>(v) / static_cast<float>(count));
    }
  }
}

void divide_by_counts(const Tensor& self, const Tensor& counts) {
  const Tensor operands[2] = {self, counts};
  const Operands iter(self.sizes(), operands, 2);
  iter.for_each([&](char* const* p, const int64_t* s, int64_t n) {
    switch (self.dtype()) {
#define FL_CASE(name, T) \
  case DType::name: return divide<T>(p, s, n);
      FL_CASE(UInt8, uint8_t)
      FL_CASE(Int8, int8_t)
      FL_CASE(Int16, int16_t)
      FL_CASE(Int32, int32_t)
      FL_CASE(Int64, int64_t)
      FL_CASE(Float16, Half)
      FL_CASE(BFloat16, BFloat16)
      FL_CASE(Float32, float)
      FL_CASE(Float64, double)
      FL_CASE(Complex64, Complex<float>)
      FL_CASE(Complex128, Complex<double>)
#undef FL_CASE
      default: FL_CHECK_NOT_IMPLEMENTED(false, "mean is not implemented for '", dtype_name(self.dtype()), "'");
    }
  });
}

// Writes the identity where something will be reduced, reduces, divides by the counts for a mean.
void reduce_into(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 Reduction r, bool include_self) {
  const CombineIndexedLoop loop = combine_for(r.combine, self, op);
  const std::vector<int64_t> zeros(static_cast<size_t>(index.dim()), 0);
  const auto number = [&](const Scalar& v, DType t) {
    const Tensor x = scalar_tensor(v, {t, {}});
    return with_geometry(x, index.sizes(), zeros, 0);
  };
  if (!include_self)
    scatter_with(self, dim, index, number(identity(r, self.dtype()), self.dtype()), assign_of(self.itemsize()));
  scatter_with(self, dim, index, source, loop);
  if (!r.mean) return;
  const Tensor counts = empty(self.sizes(), {DType::Int64, {}});
  fill_value(counts, Scalar(int64_t{include_self ? 1 : 0}));
  scatter_with(counts, dim, index, number(Scalar(1), DType::Int64), combine_indexed_loop(Combine::Add, DType::Int64));
  divide_by_counts(self, counts);
}

}  // namespace

const Tensor& scatter_reduce_op_(const Tensor& self_, int64_t dim_, const Tensor& index_, const Tensor& src_,
                                 std::string_view reduce, bool include_self) {
  Reduction r{Combine::Add, false};
  if (reduce == "prod")
    r.combine = Combine::Multiply;
  else if (reduce == "amax")
    r.combine = Combine::Max;
  else if (reduce == "amin")
    r.combine = Combine::Min;
  else if (reduce == "mean")
    r.mean = true;
  else
    FL_CHECK(reduce == "sum", "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  check_index_dtype(index_, "scatter");
  const int64_t dim = wrap_dim(dim_, self_.dim());
  if (index_.numel() == 0) return self_;
  const Tensor self = at_least_1d(self_), index = as_long(at_least_1d(index_)), src = at_least_1d(src_);
  check_scatter(self, dim, index, &src);
  FL_CHECK(self.dtype() == src.dtype(), "scatter(): Expected self.dtype to be equal to src.dtype, got ",
           dtype_name(self.dtype()), " and ", dtype_name(src.dtype()));
  check_bounds(index, dim, self.sizes()[dim]);
  reduce_into("scatter_reduce", self, dim, index, cut(src, index.sizes()), r, include_self);
  return self_;
}

// --- index_*: one index a slice
// ---------------------------------------------------------------------------------------------

namespace {

// A vector of indices seen in the shape of `sizes`, the same for every element of a slice.
Tensor spread(const Tensor& index, IntList sizes, int64_t dim) {
  std::vector<int64_t> strides(sizes.size(), 0);
  strides[static_cast<size_t>(dim)] = index.strides()[0];
  return with_geometry(index, sizes, strides, index.storage_offset());
}

struct Slices {
  Tensor self, index, source;
  int64_t dim;
};

Slices check_slices(const char* op, const Tensor& self_, int64_t dim_, const Tensor& index_, const Tensor& source_) {
  FL_CHECK_INDEX(index_.dim() <= 1, op, ": Index is supposed to be a vector, but got dim: ", index_.dim(),
                 " with type: ", dtype_name(index_.dtype()), " and size: ", index_.sizes());
  FL_CHECK(index_.dtype() == DType::Int64 || index_.dtype() == DType::Int32, op,
           ": Expected dtype int32/int64 for index but got: ", dtype_name(index_.dtype()));
  FL_CHECK(self_.dtype() == source_.dtype(), op, ": self (", dtype_name(self_.dtype()), ") and source (",
           dtype_name(source_.dtype()), ") must have the same scalar type");
  const int64_t dim = wrap_dim(dim_, self_.dim());
  Slices s{at_least_1d(self_), as_long(at_least_1d(index_)), at_least_1d(source_), dim};
  const int64_t count = s.index.numel();
  FL_CHECK(self_.dim() == source_.dim() || source_.numel() == 1 || (self_.dim() == 0 && source_.dim() == 1),
           "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
           self_.sizes(), " source.shape = ", source_.sizes());
  if (s.source.dim() != s.self.dim()) {
    const std::vector<int64_t> ones(static_cast<size_t>(s.self.dim()), 1);
    s.source = with_geometry(s.source, ones, ones, s.source.storage_offset());
  }
  FL_CHECK(count == s.source.sizes()[dim], op, ": Number of indices (", count,
           ") should be equal to source.size(dim): (", s.source.sizes()[dim], "), for dim: ", dim);
  for (int64_t d = 0; d < s.self.dim(); ++d)
    FL_CHECK(d == dim || s.self.sizes()[d] == s.source.sizes()[d],
             "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
             self_.sizes(), " source.shape = ", source_.sizes());
  check_bounds(s.index, dim, s.self.sizes()[dim]);
  return s;
}

}  // namespace

const Tensor& index_add_op_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                            const Scalar& alpha) {
  Slices s = check_slices("index_add_()", self, dim, index, source);
  if (s.source.numel() == 0) return self;
  if (!alpha.equals(1)) {
    FL_CHECK(!alpha.is_floating() || is_floating(self.dtype()) || self.is_complex(),
             "For integral input tensors, argument alpha must not be a floating point number.");
    const Tensor scaled = clone_values(s.source), factor = number_for(self, alpha);
    const Tensor operands[2] = {scaled, factor};
    const Operands iter(scaled.sizes(), operands, 2);
    const CombineLoop multiply = combine_loop(Combine::Multiply, self.dtype());
    iter.for_each([&](char* const* p, const int64_t* st, int64_t n) { multiply(p[0], st[0], p[1], st[1], n); });
    s.source = scaled;
  }
  scatter_with(s.self, s.dim, spread(s.index, s.source.sizes(), s.dim), s.source,
               combine_for(Combine::Add, self, "index_add"));
  return self;
}

const Tensor& index_copy_op_(const Tensor& self, int64_t dim_, const Tensor& index, const Tensor& source) {
  const int64_t dim = wrap_dim(dim_, self.dim());
  FL_CHECK_INDEX(index.dim() < 2, "index_copy_(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  FL_CHECK_INDEX(source.dim() != 0 || index.numel() == 1,
                 "index_copy_(): When source is scalar, index should have one element (got ", index.numel(), ")");
  FL_CHECK_INDEX(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
                 "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
                 "dimensionality (",
                 source.dim(), "), destination dimensionality (", self.dim(), ")");
  FL_CHECK(index.dtype() == DType::Int64, "index_copy_(): Expected a long tensor for index, but got ",
           dtype_name(index.dtype()));
  FL_CHECK(self.dtype() == source.dtype(),
           "index_copy_(): self and source expected to have the same dtype, but got (self) ", dtype_name(self.dtype()),
           " and (source) ", dtype_name(source.dtype()));
  if (source.dim() && self.dim()) {
    for (int64_t d = 0; d < self.dim(); ++d)
      FL_CHECK(d == dim || self.sizes()[d] == source.sizes()[d],
               "index_copy_(): Source/destination tensor must have same slice shapes. Destination sizes: ",
               self.sizes(), " and source sizes: ", source.sizes(), " at dimension ", dim);
    FL_CHECK_INDEX(index.numel() == source.sizes()[dim], "index_copy_(): Number of indices (", index.numel(),
                   ") should be equal to source.size(dim) (", source.sizes()[dim], ")");
  }
  const Tensor flat = contiguous(index);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int64_t v = flat.data_as<int64_t>()[i], size = at_least_1d(self).sizes()[dim];
    FL_CHECK_INDEX(v >= 0 && v < size, "index_copy_(): index ", v, " is out of bounds for dimension ", dim,
                   " with size ", size);
  }
  Slices s = check_slices("index_copy_()", self, dim, index, source);
  if (s.source.numel())
    scatter_with(s.self, s.dim, spread(s.index, s.source.sizes(), s.dim), s.source, assign_of(self.itemsize()));
  return self;
}

const Tensor& index_fill_scalar_(const Tensor& self_, int64_t dim_, const Tensor& index_, const Scalar& value) {
  FL_CHECK_INDEX(index_.dtype() == DType::Int64, "index_fill_(): Expected dtype int64 for index.");
  const int64_t dim = wrap_dim(dim_, self_.dim());
  FL_CHECK(index_.dim() <= 1, "Index has to be a vector/scalar, got ", index_.dim(), " dimensions");
  FL_CHECK(!value.is_complex() || self_.is_complex(),
           "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  const Tensor self = at_least_1d(self_);
  std::vector<int64_t> where = read_indices(index_, "index_fill_");
  const int64_t size = self.sizes()[dim];
  for (int64_t& i : where) {
    FL_CHECK_INDEX(i >= -size && i < size, "index ", i, " is out of bounds for dimension ", dim, " with size ", size);
    if (i < 0) i += size;
  }
  for (const int64_t i : where) {
    std::vector<int64_t> sizes = self.sizes().vec();
    sizes[static_cast<size_t>(dim)] = 1;
    fill_value(with_geometry(self, sizes, self.strides(), self.storage_offset() + i * self.strides()[dim]), value);
  }
  return self_;
}

const Tensor& index_fill_tensor_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  FL_CHECK(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
           value.dim(), " dimension(s).");
  return index_fill_scalar_(self, dim, index, item(value));
}

const Tensor& index_reduce_op_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                               std::string_view reduce, bool include_self) {
  Reduction r{Combine::Add, true};
  if (reduce != "mean") {
    r.mean = false;
    FL_CHECK(reduce == "prod" || reduce == "amax" || reduce == "amin",
             "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
    r.combine = reduce == "prod" ? Combine::Multiply : reduce == "amax" ? Combine::Max : Combine::Min;
  }
  const int64_t wrapped = wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = index.dim() <= 1 && is_integral(index.dtype()) && item_size(index.dtype()) >= 4
                                          ? read_indices(index, "index_reduce")
                                          : std::vector<int64_t>{};
  for (const int64_t i : values) {
    const int64_t size = at_least_1d(self).sizes()[wrapped];
    FL_CHECK_INDEX(i >= 0 && i < size, "index out of range in self: ", i, " is not in [0, ", size, ")");
  }
  Slices s = check_slices("index_reduce_()", self, dim, index, source);
  if (s.source.numel())
    reduce_into("index_reduce", s.self, s.dim, spread(s.index, s.source.sizes(), s.dim), s.source, r, include_self);
  return self;
}

}  // namespace flambeau
