#include "reduce/reduce_tensor.h"

#include "flambeau/core/python_hook.h"
#include "flambeau/core/views.h"
#include "pointwise/convert.h"

namespace flambeau {

std::vector<uint8_t> reduced_flags(const Tensor& self, IntList dims) {
  std::vector<uint8_t> flags(static_cast<size_t>(self.dim()), dims.empty());
  std::vector<uint8_t> seen(static_cast<size_t>(std::max<int64_t>(self.dim(), 1)));
  for (int64_t d : dims) {
    const int64_t w = wrap_dim(d, self.dim());
    FL_CHECK(!seen[static_cast<size_t>(w)], "dim ", w, " appears multiple times in the list of dims");
    seen[static_cast<size_t>(w)] = 1;
    if (self.dim() > 0) flags[static_cast<size_t>(w)] = 1;
  }
  return flags;
}

namespace {

DType result_dtype(ResultKind kind, DType compute) {
  switch (kind) {
    case ResultKind::kSum: return is_integral(compute, true) ? DType::Int64 : compute;
    case ResultKind::kReal: return to_real(compute);
    case ResultKind::kInt64: return DType::Int64;
    case ResultKind::kBool: return DType::Bool;
    default: return compute;
  }
}

}  // namespace

std::array<Tensor, 2> reduce_tensor(const char* op, std::string_view name, const Tensor& self, IntList dims,
                                    bool keepdim, const Param* params) {
  const ReduceKernel* kernel = find_reduction(name);
  FL_INTERNAL_CHECK(kernel, name);
  const int code = static_cast<int>(self.dtype());
  FL_CHECK(code < kNumPointwiseDTypes && kernel->blocks[code], "\"", op, "\" not implemented for '",
           dtype_name(self.dtype()), "'");
  const std::vector<uint8_t> flags = reduced_flags(self, dims);
  const int ndim = static_cast<int>(self.dim());
  if (ndim > kMaxReduceDims && dims.empty() && !keepdim) {
    const int64_t flat[1] = {self.numel()};
    return reduce_tensor(op, name, view(contiguous(self), flat), {}, false, params);
  }
  FL_CHECK(ndim <= kMaxReduceDims, "[", op, "] only tensors with up to ", kMaxReduceDims, " dims are supported, got ",
           ndim);
  std::vector<int64_t> full(self.sizes().begin(), self.sizes().end()), kept;
  for (int d = 0; d < ndim; ++d) {
    if (flags[static_cast<size_t>(d)]) full[static_cast<size_t>(d)] = 1;
    if (!flags[static_cast<size_t>(d)] || keepdim) kept.push_back(full[static_cast<size_t>(d)]);
  }
  int64_t in_strides[kMaxReduceDims], out_strides[kMaxReduceResults][kMaxReduceDims];
  bool reduced[kMaxReduceDims];
  std::array<Tensor, 2> outs;
  ReduceArgs args{};
  args.num_dims = ndim;
  args.sizes = self.impl()->sizes();
  args.reduced = reduced;
  args.in = static_cast<const char*>(self.data());
  args.in_strides = in_strides;
  for (int d = 0; d < ndim; ++d) {
    in_strides[d] = self.strides()[static_cast<size_t>(d)] * self.itemsize();
    reduced[d] = flags[static_cast<size_t>(d)];
  }
  const std::vector<int64_t> row_major = contiguous_strides(full);
  for (int r = 0; r < kernel->num_outputs; ++r) {
    Tensor& out = outs[static_cast<size_t>(r)];
    out = empty(kept, {result_dtype(kernel->results[r], self.dtype()), self.device()});
    for (int d = 0; d < ndim; ++d) out_strides[r][d] = row_major[static_cast<size_t>(d)] * out.itemsize();
    args.out[r] = static_cast<char*>(out.data());
    args.out_strides[r] = out_strides[r];
  }
  if (outs[0].numel() == 0 || self.is_meta()) return outs;
  ReleaseInterpreter long_work(self.numel() > 65536);
  reduce(*kernel, code, args, params);
  return outs;
}

}  // namespace flambeau
