// In-place and out= forms, made from the functional one. Correct for every operator and every overlap by construction:
// the functional result is whole before anything is written. Kernels that can write in place register a faster form.
#include "flambeau/core/kernel.h"
#include "flambeau/core/out_layout.h"
#include "flambeau/core/python_hook.h"

namespace flambeau {
namespace {

const Operator& copy_op() {
  static const Operator& op = get_operator("aten", "copy_");
  return op;
}

void copy_into(const Tensor& dst, const Tensor& src) {
  const Value args[3] = {Value(dst), Value(src), Value(false)};
  Value result;
  dispatch(copy_op(), args, &result);
  release_result(result);
}

// A differentiable copy.
Tensor recorded_copy(const Tensor& t) {
  static const Operator& op = get_operator("aten", "clone");
  return call<Tensor>(op, t, Value());
}

struct Results {
  Value values[kMaxResults];
  ~Results() {
    for (Value& v : values) release_result(v);
  }
};

void return_borrowed(Value* r, const Value& v) { set_result(r, Tensor(v.as_tensor())); }

}  // namespace

void inplace_through_functional(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Tensor& self = args[0].as_tensor();
  FL_CHECK(!has_internal_overlap(self), "[", op.name,
           "] unsupported operation: more than one element of the written-to tensor "
           "refers to a single memory location. Please clone() the tensor before performing the operation.");
  Results r;
  if ((keys & key_bit(Key::Autograd)) && grad_enabled()) {
    // The parts of a composite record themselves and may keep `self`, which is about to change: they get a copy of it.
    std::vector<Value> frame(args, args + op.num_args);
    const Tensor before = recorded_copy(self);
    frame[0] = Value(before);
    redispatch(*op.functional, keys, frame.data(), r.values);
  } else {
    redispatch(*op.functional, keys, args, r.values);
  }
  const Tensor& value = r.values[0].as_tensor();
  FL_CHECK(value.sizes() == self.sizes(), "[", op.name, "] output with shape ", self.sizes(),
           " doesn't match the broadcast shape ", value.sizes());
  FL_CHECK(can_cast(value.dtype(), self.dtype()), "result type ", dtype_name(value.dtype()),
           " can't be cast to the desired output type ", dtype_name(self.dtype()));
  copy_into(self, value);
  return_borrowed(results, args[0]);
}

void prepare_out(const char* op, const Tensor& out, IntList sizes, DType dtype) {
  prepare_out(op, out, sizes, dtype, {});
}

void prepare_out(const char* op, const Tensor& out, IntList sizes, DType dtype, IntList strides) {
  out.check_may_write();
  FL_CHECK(can_cast(dtype, out.dtype()), "[", op, "] result type ", dtype_name(dtype),
           " can't be cast to the desired output type ", dtype_name(out.dtype()));
  if (!(out.sizes() == sizes)) {
    if (out.numel() != 0 && python_hooks.warn)
      python_hooks.warn(concat("An output with one or more elements was resized since it had shape ", out.sizes(),
                               ", which does not match the required output shape ", sizes,
                               ". This behavior is deprecated; reuse an out tensor t by resizing it with t.resize_(0).")
                            .c_str());
    resize_(out, sizes);
    if (strides.size() == sizes.size()) set_geometry(*out.impl(), sizes, strides, out.storage_offset());
  }
  FL_CHECK(!has_internal_overlap(out), "[", op,
           "] unsupported operation: more than one element of the written-to tensor refers "
           "to a single memory location. Please clone() the tensor before performing the operation.");
}

void check_out_dtype(const Operator& op, const Tensor& out, DType dtype) {
  FL_CHECK(!(op.flags & kOutExact) || out.dtype() == dtype, op.name, "(): Expected out tensor to have dtype ",
           dtype_name(dtype), ", but got ", dtype_name(out.dtype()), " instead");
}

void check_out_disjoint(const Operator& op, const Value* args) {
  if (!(op.flags & kOutDisjoint)) return;
  const int inputs = op.functional->num_args, outs = op.functional->num_results;
  const auto check = [&](const Tensor& out, const Tensor& input) {
    FL_CHECK(!input.defined() || memory_overlap(out, input) == Overlap::None, op.name,
             "(): unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
             "memory location. Please clone() the tensor before performing the operation.");
  };
  for (int i = 0; i < outs; ++i) {
    FL_CHECK(!has_internal_overlap(args[inputs + i].as_tensor()), op.name,
             "(): unsupported operation: more than one element of the written-to tensor refers to a single memory "
             "location. Please clone() the tensor before performing the operation.");
    for (int j = 0; j < inputs; ++j) {
      if (args[j].tag == Tag::Tensor) check(args[inputs + i].as_tensor(), args[j].as_tensor());
      if (args[j].tag != Tag::TensorList) continue;
      for (uint32_t k = 0; k < args[j].size; ++k) check(args[inputs + i].as_tensor(), args[j].tensors[k]);
    }
  }
}

namespace {

// Of an operator that gives a list: `out` is a list of as many tensors, and nothing is returned.
void out_list_through_functional(const Operator& op, KeySet keys, const Value* args) {
  const Operator& f = *op.functional;
  const TensorList outs{args[f.num_args].tensors, args[f.num_args].size};
  Results r;
  redispatch(f, keys, args, r.values);
  const std::vector<Tensor>& values = *r.values[0].tensor_vector;
  FL_CHECK(outs.size() == values.size(), "[", f.name, "] expected an out= argument of size ", values.size(),
           ", got size ", outs.size());
  for (size_t i = 0; i < values.size(); ++i) {
    check_out_dtype(op, outs[i], values[i].dtype());
    prepare_out(f.name.c_str(), outs[i], values[i].sizes(), values[i].dtype());
  }
  GradMode no_grad(false);
  for (size_t i = 0; i < values.size(); ++i) copy_into(outs[i], values[i]);
}

}  // namespace

void out_through_functional(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Operator& f = *op.functional;
  if (args[f.num_args].tag == Tag::TensorList) return out_list_through_functional(op, keys, args);
  for (int i = 0; i < f.num_results; ++i) {
    const Tensor& out = args[f.num_args + i].as_tensor();
    FL_CHECK(
        !out.requires_grad() || !grad_enabled(), f.name,
        "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  }
  check_out_disjoint(op, args);
  Results r;
  redispatch(f, keys, args, r.values);
  for (int i = 0; i < f.num_results; ++i) {
    const Tensor& out = args[f.num_args + i].as_tensor();
    const Tensor& value = r.values[i].as_tensor();
    check_out_dtype(op, out, value.dtype());
    prepare_out(f.name.c_str(), out, value.sizes(), value.dtype(),
                value.is_non_overlapping_and_dense() ? value.strides() : IntList());
  }
  GradMode no_grad(false);
  for (int i = 0; i < f.num_results; ++i) {
    copy_into(args[f.num_args + i].as_tensor(), r.values[i].as_tensor());
    return_borrowed(results + i, args[f.num_args + i]);
  }
}

void run_alias(const Operator& op, KeySet keys, const Value* args, Value* results) {
  redispatch(get_operator("aten", static_cast<const char*>(op.payload)), keys, args, results);
}

// --- operators with a shape rule
// --------------------------------------------------------------------------------------

namespace {

const ShapedKernel& shaped(const Operator& op) { return *static_cast<const ShapedKernel*>(op.payload); }

void run_shape_rule(const Operator& op, const Value* args, TensorSpec* specs) {
  if (const auto check = shaped(op).check) check(op, args);
  shaped(op).shape(args, specs);
}

Device device_of(const Operator& op, const Value* args) {
  for (int i = 0; i < op.num_args; ++i) {
    if (args[i].tag == Tag::Tensor) return args[i].tensor->device;
    if (args[i].tag == Tag::TensorList && args[i].size && args[i].tensors[0].defined())
      return args[i].tensors[0].device();
  }
  return {DeviceType::CPU, -1};
}

Tensor allocate(const TensorSpec& spec, Device device) {
  return spec.strides.empty() ? empty(spec.sizes, {spec.dtype, device})
                              : empty_strided(spec.sizes, spec.strides, {spec.dtype, device});
}

}  // namespace

void run_shaped_functional(const Operator& op, KeySet, const Value* args, Value* results) {
  if (op.num_results == 1) {  // small products and the like spend their time here
    TensorSpec spec;
    run_shape_rule(op, args, &spec);
    Tensor out = allocate(spec, {DeviceType::CPU, -1});
    shaped(op).run(args, &out);
    return set_result(results, std::move(out));
  }
  TensorSpec specs[kMaxResults];
  run_shape_rule(op, args, specs);
  Tensor outs[kMaxResults];
  for (int i = 0; i < op.num_results; ++i) outs[i] = allocate(specs[i], {DeviceType::CPU, -1});
  shaped(op).run(args, outs);
  for (int i = 0; i < op.num_results; ++i) set_result(results + i, std::move(outs[i]));
}

void run_shaped_meta(const Operator& op, KeySet, const Value* args, Value* results) {
  TensorSpec specs[kMaxResults];
  run_shape_rule(op, args, specs);
  for (int i = 0; i < op.num_results; ++i) set_result(results + i, allocate(specs[i], device_of(op, args)));
}

void run_shaped_out(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Operator& f = *op.functional;
  check_out_disjoint(op, args);
  TensorSpec specs[kMaxResults];
  run_shape_rule(f, args, specs);
  Tensor outs[kMaxResults];
  bool direct = true;  // the kernel may write straight into `out`: same dtype, row-major, disjoint from every argument
  for (int i = 0; i < f.num_results; ++i) {
    outs[i] = args[f.num_args + i].as_tensor();
    outs[i].check_may_write();
    direct = direct && outs[i].dtype() == specs[i].dtype && outs[i].is_contiguous() &&
             outs[i].sizes() == IntList(specs[i].sizes) && specs[i].strides.empty();
    for (int j = 0; j < f.num_args && direct; ++j) {
      if (args[j].tag == Tag::Tensor)
        direct = memory_overlap(outs[i], args[j].as_tensor()) == Overlap::None;
      else if (args[j].tag == Tag::TensorList)
        for (uint32_t k = 0; k < args[j].size; ++k)
          direct =
              direct && (!args[j].tensors[k].defined() || memory_overlap(outs[i], args[j].tensors[k]) == Overlap::None);
    }
  }
  if (!direct || f.num_results > 1) return out_through_functional(op, keys, args, results);
  shaped(f).run(args, outs);
  for (int i = 0; i < f.num_results; ++i) {
    outs[i].bump_version();
    set_result(results + i, std::move(outs[i]));
  }
}

}  // namespace flambeau
