#include "nn/convolution_plan.h"

#include "nn/compute.h"

namespace flambeau::nn {

namespace {

void check_values(const ConvParams& p) {
  for (const int64_t v : p.padding)
    FL_CHECK(v >= 0, "[convolution] negative padding is not supported, got ", p.padding);
  for (const int64_t v : p.stride)
    FL_CHECK(v > 0, "[convolution] non-positive stride is not supported, got ", p.stride);
  for (const int64_t v : p.dilation)
    FL_CHECK(v > 0, "[convolution] dilation should be greater than zero, got ", p.dilation);
  for (const int64_t v : p.output_padding)
    FL_CHECK(v >= 0, "[convolution] negative output_padding is not supported, got ", p.output_padding);
  FL_CHECK(p.groups > 0, "[convolution] expected groups to be greater than 0, got groups=", p.groups);
}

void check_dtypes(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  FL_CHECK_DTYPE(input.dtype() == weight.dtype(), "Input type (", dtype_name(input.dtype()), ") and weight type (",
                 dtype_name(weight.dtype()), ") should be the same");
  FL_CHECK_DTYPE(!bias.defined() || bias.dtype() == input.dtype(), "Input type (", dtype_name(input.dtype()),
                 ") and bias type (", bias.defined() ? dtype_name(bias.dtype()) : "", ") should be the same");
  FL_CHECK_DEVICE(input.device() == weight.device() && (!bias.defined() || bias.device() == input.device()),
                  "[convolution] input, weight and bias must be on the same device");
}

void check_channels(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  const IntList in = input.sizes(), w = weight.sizes();
  FL_CHECK_SHAPE(w[0] >= p.groups && w[0] % p.groups == 0, "Given groups=", p.groups,
                 ", expected weight to be at least ", p.groups,
                 " at dimension 0 and divisible by it, but got weight of size ", w, " instead");
  const int64_t in_channels = p.transposed ? w[0] : w[1] * p.groups,
                out_channels = p.transposed ? w[1] * p.groups : w[0];
  FL_CHECK_SHAPE(in[1] == in_channels, "Given ", p.transposed ? "transposed=1, " : "", "groups=", p.groups,
                 ", weight of size ", w, ", expected input", in, " to have ", in_channels, " channels, but got ", in[1],
                 " channels instead");
  if (bias.defined())
    FL_CHECK_SHAPE(bias.dim() == 1 && bias.sizes()[0] == out_channels, "Given weight of size ", w,
                   ", expected bias to be 1-dimensional with ", out_channels, " elements, but got bias of size ",
                   bias.sizes(), " instead");
}

int64_t checked(__int128 v) {
  FL_CHECK_SHAPE(v < (__int128{1} << 62) && v > -(__int128{1} << 62), "[convolution] the sizes of the result overflow");
  return static_cast<int64_t>(v);
}

// Kernels compute positions in the padded image, also of a few outputs past the end: those must fit 64 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 40;

void check_extent(__int128 padded, __int128 reach, const ConvParams& p) {
  FL_CHECK_SHAPE(padded < kMaxExtent && reach < kMaxExtent,
                 "[convolution] a padded image or a dilated kernel has more than ", kMaxExtent,
                 " positions in one dimension: padding ", p.padding, ", dilation ", p.dilation, ", stride ", p.stride);
}

}  // namespace

ConvParams conv_params(IntList stride, IntList padding, IntList dilation, bool transposed, IntList output_padding,
                       int64_t groups) {
  return {stride.vec(), padding.vec(), dilation.vec(), output_padding.vec(), transposed, groups};
}

std::vector<int64_t> conv_output_sizes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                       const ConvParams& p) {
  check_dtypes(input, weight, bias);
  const int64_t rank = weight.dim();
  FL_CHECK_SHAPE(rank >= 3, "weight should have at least three dimensions, got ", rank);
  FL_CHECK_SHAPE(rank <= 5, "[convolution] weight may have three spatial dimensions at most, got sizes ",
                 weight.sizes());
  FL_CHECK_SHAPE(input.dim() == rank, "Expected ", rank, "-dimensional input for ", rank, "-dimensional weight ",
                 weight.sizes(), ", but got ", input.dim(), "-dimensional input of size ", input.sizes(), " instead");
  const size_t n = static_cast<size_t>(rank - 2);
  for (const auto* list : {&p.stride, &p.padding, &p.dilation, &p.output_padding})
    FL_CHECK_SHAPE(list->size() == n, "[convolution] stride, padding, dilation and output_padding need ", n,
                   " numbers, got ", p.stride, ", ", p.padding, ", ", p.dilation, ", ", p.output_padding);
  check_values(p);
  check_channels(input, weight, bias, p);
  std::vector<int64_t> sizes{input.sizes()[0], p.transposed ? weight.sizes()[1] * p.groups : weight.sizes()[0]};
  for (size_t d = 0; d < n; ++d) {
    const int64_t in = input.sizes()[d + 2], k = weight.sizes()[d + 2];
    FL_CHECK_SHAPE(k > 0, "[convolution] kernel sizes must be positive, got weight of size ", weight.sizes());
    const __int128 reach = static_cast<__int128>(p.dilation[d]) * (k - 1) + 1;
    if (p.transposed) {
      FL_CHECK_SHAPE(p.output_padding[d] < p.stride[d] || p.output_padding[d] < p.dilation[d],
                     "output padding must be smaller than either stride or dilation, but got output_padding ",
                     p.output_padding, ", stride ", p.stride, " and dilation ", p.dilation);
      const int64_t out = checked(static_cast<__int128>(in - 1) * p.stride[d] -
                                  2 * static_cast<__int128>(p.padding[d]) + reach + p.output_padding[d]);
      FL_CHECK_SHAPE(out > 0, "[convolution] given input size ", input.sizes(),
                     " the calculated output size of dimension ", d + 2, " is ", out, ", too small");
      check_extent(out + 2 * static_cast<__int128>(p.padding[d]), reach, p);
      sizes.push_back(out);
    } else {
      const __int128 padded = in + 2 * static_cast<__int128>(p.padding[d]), room = padded - reach;
      check_extent(padded, reach, p);
      FL_CHECK_SHAPE(room >= 0, "Calculated padded input size of dimension ", d, ": ", static_cast<int64_t>(padded),
                     ". Kernel size: ", static_cast<int64_t>(reach),
                     ". Kernel size can't be greater than actual input size");
      sizes.push_back(checked(room / p.stride[d] + 1));
    }
  }
  checked_numel(sizes, "convolution");
  return sizes;
}

MemoryFormat conv_format(const Tensor& input, const Tensor& weight) {
  if (input.dim() != 4 && input.dim() != 5) return MemoryFormat::Contiguous;
  const MemoryFormat f = format_of(input);
  return f == MemoryFormat::Contiguous ? format_of(weight) : f;
}

conv::ConvShape conv_shape_of(IntList x, IntList weight, IntList y, const ConvParams& p) {
  conv::ConvShape s{};
  s.N = x[0], s.Cin = x[1], s.Cout = y[1], s.groups = p.groups;
  const size_t n = x.size() - 2, lead = 3 - n;
  for (size_t d = 0; d < 3; ++d) {
    const bool real = d >= lead;
    const size_t i = d - lead;
    s.in[d] = real ? x[i + 2] : 1;
    s.k[d] = real ? weight[i + 2] : 1;
    s.out[d] = real ? y[i + 2] : 1;
    // A step that is never made may be as large as it likes.
    s.stride[d] = real && s.out[d] > 1 ? p.stride[i] : 1;
    s.pad[d] = real ? p.padding[i] : 0;
    s.dil[d] = real && s.k[d] > 1 ? p.dilation[i] : 1;
  }
  return s;
}

conv::Strides conv_strides_of(const Tensor& t) {
  const IntList st = t.strides();
  conv::Strides s{st[0], st[1], {0, 0, 0}};
  const size_t n = st.size() - 2;
  for (size_t d = 0; d < n; ++d) s.d[3 - n + d] = st[d + 2];
  return s;
}

}  // namespace flambeau::nn
