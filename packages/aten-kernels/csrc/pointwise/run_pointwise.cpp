#include "pointwise/run_pointwise.h"

#include "flambeau/core/kernel.h"
#include "flambeau/core/out_layout.h"
#include "flambeau/core/promotion.h"
#include "iterator/operands.h"
#include "pointwise/convert.h"
#include "pointwise/pointwise_kernel.h"

namespace flambeau {
namespace {

constexpr int64_t kStreamBytes = int64_t{16} << 20;  // outputs no cache will hold are written past the caches

const PointwiseKernel& kernel_of(const Operator& op) {
  FL_INTERNAL_CHECK(op.payload, op.name, " has no pointwise kernel");
  return *static_cast<const PointwiseKernel*>(op.payload);
}

/// One call, taken apart.
struct Call {
  const Operator& op;
  const PointwiseKernel& kernel;
  Tensor inputs[kMaxPointwiseOperands];
  Value params[kMaxPointwiseParams];
  int num_inputs = 0, num_params = 0;
  DType compute = DType::Undefined;

  Call(const Operator& o, const Value* args, int num_args) : op(o), kernel(kernel_of(o)) {
    for (int i = 0; i < num_args; ++i) {
      if (args[i].tag == Tag::Tensor) {
        FL_INTERNAL_CHECK(num_inputs < kMaxPointwiseOperands);
        inputs[num_inputs++] = args[i].as_tensor();
      } else {
        FL_INTERNAL_CHECK(num_params < kMaxPointwiseParams);
        params[num_params++] = args[i];
      }
    }
    FL_INTERNAL_CHECK(num_inputs == kernel.num_inputs, "[", op.name, "] the body takes ", int(kernel.num_inputs),
                      " tensors, the record gives ", num_inputs);
  }
};

DType operand_dtype(OperandKind kind, DType compute) {
  switch (kind) {
    case OperandKind::kBool: return DType::Bool;
    case OperandKind::kReal: return to_real(compute);
    case OperandKind::kComplex: return to_complex(compute);
    case OperandKind::kInt32: return DType::Int32;
    case OperandKind::kInt64: return DType::Int64;
    default: return compute;
  }
}

DType compute_dtype(const Call& c) {
  PromotionState state;
  for (int i = 0; i < c.num_inputs; ++i)
    if (c.kernel.operands[c.kernel.num_outputs + i] == OperandKind::kCompute) state.add(c.inputs[i]);
  DType t = state.result();
  if (c.kernel.promote == Promote::kIntToFloat && is_integral(t, true)) t = default_dtype();
  if (c.kernel.promote == Promote::kBoolToInt && is_bool(t)) t = DType::Int64;
  return t;
}

void check_dtype(const Call& c) {
  const int code = static_cast<int>(c.compute);
  FL_CHECK(code >= 0 && code < kNumPointwiseDTypes && c.kernel.loops[code], "\"", c.op.name, "\" not implemented for '",
           dtype_name(c.compute), "'");
  for (int i = 0; i < c.num_inputs; ++i) {  // masks are masks; where() takes old uint8 ones too
    if (c.kernel.operands[c.kernel.num_outputs + i] != OperandKind::kBool) continue;
    const DType t = c.inputs[i].dtype();
    FL_CHECK(t == DType::Bool || (t == DType::UInt8 && c.op.name == "where"), c.op.name,
             " only supports boolean masks, but got mask with dtype ", dtype_name(t));
  }
}

void check_devices(const Call& c) {
  const Device d = c.inputs[0].device();
  for (int i = 1; i < c.num_inputs; ++i)
    FL_CHECK(c.inputs[i].device().type == d.type || c.inputs[i].dim() == 0 || c.inputs[0].dim() == 0,
             "Expected all tensors to be on the same device, but found at least two devices, ", to_string(d), " and ",
             to_string(c.inputs[i].device()), "! (", c.op.name, ")");
}

Param to_param(const Call& c, const Value& v, ParamKind kind) {
  Param p;
  p.c[0] = p.c[1] = 0;
  const Scalar s = v.is_none() ? Scalar() : to_scalar(v);
  switch (kind) {
    case ParamKind::kDouble: p.d = s.to_double(); return p;
    case ParamKind::kInt: p.i = s.to_int(); return p;
    case ParamKind::kBool: p.b = s.to_bool(); return p;
    case ParamKind::kCompute: break;
  }
  if (is_complex(c.compute)) {
    p.c[0] = s.real();
    p.c[1] = s.imag();
  } else if (is_floating(c.compute)) {
    p.d = s.to_double();
  } else {
    // Bounds are cut to integers; factors must be ones.
    FL_CHECK(s.is_integral() || c.op.name.starts_with("hardtanh"), "For integral input tensors, argument ",
             c.op.name == "add" || c.op.name == "sub" || c.op.name == "rsub" ? "alpha" : "value",
             " must not be a floating point number.");
    if (is_bool(c.compute))
      p.b = s.to_bool();
    else
      p.i = s.to_int();
  }
  return p;
}

std::vector<int64_t> common_shape(const Call& c) {
  std::vector<int64_t> shape = c.inputs[0].sizes().vec();
  for (int i = 1; i < c.num_inputs; ++i)
    if (!(c.inputs[i].sizes() == IntList(shape)))
      shape = broadcast_shapes(shape, c.inputs[i].sizes(), c.op.name.c_str());
  return shape;
}

// Result geometry: row-major unless every input of the full shape agrees on another dense layout, which is then kept.
Tensor allocate_result(const Call& c, IntList shape, DType dtype) {
  const Tensor* model = nullptr;
  for (int i = 0; i < c.num_inputs; ++i) {
    if (!(c.inputs[i].sizes() == shape)) continue;
    if (!model) model = &c.inputs[i];
  }
  if (!model) {  // e.g. (3, 1) + (4,): the layout of the broadcast is row-major
    return empty(shape, {dtype, c.inputs[0].device()});
  }
  return empty_like(*model, dtype);
}

void raise(const PointwiseKernel& k, uint32_t flags) {
  const PointwiseError& e = k.errors[__builtin_ctz(flags)];
  const std::string_view kind = e.kind;
  if (kind == "ValueError") FL_CHECK_VALUE(false, e.message);
  if (kind == "IndexError") FL_CHECK_INDEX(false, e.message);
  if (kind == "TypeError") FL_CHECK_TYPE(false, e.message);
  FL_CHECK(false, e.message);
}

// Runs the loop over outputs and inputs that have the dtypes it wants.
void run_loop(const Call& c, IntList shape, const Tensor* operands, int64_t out_bytes) {
  const int code = static_cast<int>(c.compute);
  PointwiseLoop loop = c.kernel.loops[code];
  if (out_bytes >= kStreamBytes && c.kernel.stream[code]) loop = c.kernel.stream[code];
  Param params[kMaxPointwiseParams];
  for (int i = 0; i < c.num_params; ++i) params[i] = to_param(c, c.params[i], c.kernel.params[i]);
  std::atomic<uint32_t> flags{0};
  const Operands iter(shape, operands, c.kernel.num_outputs + c.num_inputs);
  iter.for_each([&](char* const* ptrs, const int64_t* strides, int64_t n) {
    if (const uint32_t f = loop(ptrs, strides, n, params)) flags.fetch_or(f, std::memory_order_relaxed);
  });
  if (FL_UNLIKELY(flags.load() != 0)) raise(c.kernel, flags.load());
}

void prepare(Call& c) {
  check_devices(c);
  c.compute = compute_dtype(c);
  check_dtype(c);
}

// Fills operands[num_outputs..] with inputs of the dtypes the loop wants.
void convert_inputs(const Call& c, Tensor* operands) {
  const int outs = c.kernel.num_outputs;
  for (int i = 0; i < c.num_inputs; ++i) {
    const DType want = operand_dtype(c.kernel.operands[outs + i], c.compute);
    operands[outs + i] = c.inputs[i].dtype() == want ? c.inputs[i] : converted(c.inputs[i], want);
  }
}

bool same_geometry(const TensorImpl& a, const TensorImpl& b) {
  if (a.ndim != b.ndim || !a.contiguous || !b.contiguous) return false;
  for (int i = 0; i < a.ndim; ++i)
    if (a.sizes()[i] != b.sizes()[i]) return false;
  return true;
}

// One or two plain contiguous inputs of one dtype, no conversion: nothing to set up but the result.
bool run_simple(const Operator& op, const PointwiseKernel& k, const Value* args, Value* results) {
  if (k.num_outputs != 1 || k.num_inputs > 2 || k.num_inputs > op.num_args) return false;
  const TensorImpl* a = args[0].tag == Tag::Tensor ? args[0].tensor : nullptr;
  if (!a || !a->contiguous || a->wrapped_number) return false;
  const TensorImpl* b = a;
  if (k.num_inputs == 2) {
    if (args[1].tag != Tag::Tensor) return false;
    b = args[1].tensor;
    if (b->dtype != a->dtype || b->wrapped_number || !same_geometry(*a, *b)) return false;
  }
  const DType t = a->dtype;
  const int code = static_cast<int>(t);
  if (code >= kNumPointwiseDTypes || !k.loops[code] || (k.promote == Promote::kIntToFloat && is_integral(t, true)))
    return false;
  for (int i = 1; i <= k.num_inputs; ++i)
    if (k.operands[i] != OperandKind::kCompute) return false;
  const DType out_type = operand_dtype(k.operands[0], t);
  if (a->numel > 16384) return false;
  Param params[kMaxPointwiseParams];
  for (int i = 0; i < k.num_params; ++i) {
    const Value& v = args[k.num_inputs + i];
    if (v.tag == Tag::Int && k.params[i] == ParamKind::kCompute) {
      if (is_floating(t))
        params[i].d = static_cast<double>(v.i);
      else if (is_complex(t)) {
        params[i].c[0] = static_cast<double>(v.i);
        params[i].c[1] = 0;
      } else if (t == DType::Bool)
        params[i].b = v.i != 0;
      else
        params[i].i = v.i;
    } else if (v.tag == Tag::Double &&
               (k.params[i] == ParamKind::kDouble || (k.params[i] == ParamKind::kCompute && is_floating(t)))) {
      params[i].d = v.d;
    } else {
      return false;
    }
  }
  Tensor out = empty_same_contiguous(*a, out_type);
  char* ptrs[3] = {out.impl()->data(), a->data(), b->data()};
  const int64_t strides[3] = {item_size(out_type), item_size(t), item_size(t)};
  if (const uint32_t f = k.loops[code](ptrs, strides, a->numel, params)) raise(k, f);
  set_result(results, std::move(out));
  return true;
}

}  // namespace

void run_pointwise(const Operator& op, KeySet, const Value* args, Value* results) {
  const PointwiseKernel& k = kernel_of(op);
  if (FL_LIKELY(run_simple(op, k, args, results))) return;
  Call c(op, args, op.num_args);
  prepare(c);
  const std::vector<int64_t> shape = common_shape(c);
  Tensor operands[kMaxOperands];
  int64_t out_bytes = 0;
  for (int i = 0; i < k.num_outputs; ++i) {
    operands[i] = allocate_result(c, shape, operand_dtype(k.operands[i], c.compute));
    out_bytes = std::max(out_bytes, operands[i].numel() * operands[i].itemsize());
  }
  convert_inputs(c, operands);
  run_loop(c, shape, operands, out_bytes);
  for (int i = 0; i < k.num_outputs; ++i) set_result(results + i, std::move(operands[i]));
}

void run_pointwise_meta(const Operator& op, KeySet, const Value* args, Value* results) {
  Call c(op, args, op.num_args);
  prepare(c);
  const std::vector<int64_t> shape = common_shape(c);
  for (int i = 0; i < c.kernel.num_outputs; ++i)
    set_result(results + i, allocate_result(c, shape, operand_dtype(c.kernel.operands[i], c.compute)));
}

// Writes into `out` where the loop may: right dtype, and every input disjoint from it or exactly it. Else through a
// temporary.
static void write_to(const Call& c, IntList shape, const Tensor& out) {
  Tensor operands[kMaxOperands];
  out.check_may_write();
  const DType want = operand_dtype(c.kernel.operands[0], c.compute);
  bool direct = out.dtype() == want;
  for (int i = 0; i < c.num_inputs && direct; ++i) direct = memory_overlap(out, c.inputs[i]) != Overlap::Partial;
  operands[0] = direct ? out : empty(shape, {want, out.device()});
  convert_inputs(c, operands);
  run_loop(c, shape, operands, 0);
  if (!direct) copy_values(out, operands[0]);
  out.bump_version();
}

void run_pointwise_inplace(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Tensor& self = args[0].as_tensor();
  Call c(op, args, op.num_args);
  if (c.kernel.num_outputs != 1) return inplace_through_functional(op, keys, args, results);
  prepare(c);
  const std::vector<int64_t> shape = common_shape(c);
  const DType want = operand_dtype(c.kernel.operands[0], c.compute);
  FL_CHECK(can_cast(want, self.dtype()), "result type ", dtype_name(want), " can't be cast to the desired output type ",
           dtype_name(self.dtype()));
  FL_CHECK(!self.is_complex() || !is_floating(want), "In-place ", op.functional->name,
           " is not supported for complex tensors: its result is real");
  FL_CHECK(self.sizes() == IntList(shape), "output with shape ", self.sizes(), " doesn't match the broadcast shape ",
           shape);
  FL_CHECK(!has_internal_overlap(self),
           "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
           "Please clone() the tensor before performing the operation.");
  write_to(c, shape, self);
  set_result(results, Tensor(self));
}

void run_pointwise_out(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Operator& f = *op.functional;
  Call c(op, args, f.num_args);
  if (c.kernel.num_outputs != 1) return out_through_functional(op, keys, args, results);
  const Tensor& out = args[f.num_args].as_tensor();
  prepare(c);
  const std::vector<int64_t> shape = common_shape(c);
  const DType want = operand_dtype(c.kernel.operands[0], c.compute);
  check_out_dtype(op, out, want);
  if (out.sizes() == IntList(shape)) {
    prepare_out(f.name.c_str(), out, shape, want);
  } else {
    const Tensor model = allocate_result(c, shape, want);
    prepare_out(f.name.c_str(), out, shape, want, model.strides());
  }
  write_to(c, shape, out);
  set_result(results, Tensor(out));
}

void install_pointwise_variants(Operator& op) {
  op.set_kernel(Key::Meta, &run_pointwise_meta);
  if (op.inplace) op.inplace->set_kernel(Key::CPU, &run_pointwise_inplace);
  if (op.out) op.out->set_kernel(Key::CPU, &run_pointwise_out);
}

}  // namespace flambeau
