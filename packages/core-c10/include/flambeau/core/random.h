#pragma once

#include <cstdint>

#include "flambeau/core/export.h"
#include "flambeau/core/generator.h"
#include "flambeau/core/half.h"

// Fills of contiguous buffers whose streams equal torch's CPU ones for the same seed. Each takes the generator's lock
// and advances it exactly as torch does, so calls interleave the same way. `n` is the number of elements. Arguments are
// taken to have been checked by the caller.
//
// A tensor that is not contiguous is filled through a contiguous buffer in its logical order, with one exception:
// normal() of 16 elements or more, where torch takes another path (use normal_serial).
//
// Integers and f32/f64 uniform numbers equal torch's bit for bit, f32 normal ones too (those of its AVX2 build). What
// goes through the C library's log, cos, tan is computed in f64 and may differ in the last place where that library
// does.

namespace flambeau::random {

// T: float, double, Half, BFloat16.

// rand, uniform_: [from, to). What rounding would make `to` becomes `from`.
template <class T> FL_API void uniform(GeneratorImpl& gen, T* out, std::int64_t n, double from = 0, double to = 1);

// randn, normal_ on contiguous memory.
template <class T> FL_API void normal(GeneratorImpl& gen, T* out, std::int64_t n, double mean = 0, double std = 1);

// normal_ on memory that is not contiguous, whatever its size.
template <class T>
FL_API void normal_serial(GeneratorImpl& gen, T* out, std::int64_t n, double mean = 0, double std = 1);

template <class T> FL_API void exponential(GeneratorImpl& gen, T* out, std::int64_t n, double lambda = 1);
template <class T> FL_API void cauchy(GeneratorImpl& gen, T* out, std::int64_t n, double median = 0, double sigma = 1);
template <class T> FL_API void log_normal(GeneratorImpl& gen, T* out, std::int64_t n, double mean = 1, double std = 2);

// From here on T may also be: bool, uint8_t, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t.

// random_(from, to), randint: integers in [from, to).
template <class T>
FL_API void random_from_to(GeneratorImpl& gen, T* out, std::int64_t n, std::int64_t from, std::int64_t to);
// random_(from, None) with from at the bottom of int64: all 64 bits.
template <class T> FL_API void random_full_range(GeneratorImpl& gen, T* out, std::int64_t n);
// random_(): 0 up to the type's largest exactly representable integer.
template <class T> FL_API void random_any(GeneratorImpl& gen, T* out, std::int64_t n);

template <class T> FL_API void geometric(GeneratorImpl& gen, T* out, std::int64_t n, double p);

// bernoulli_(p): ones with probability p. The mask of dropout(p) is bernoulli(1 - p) divided by (1 - p).
template <class T> FL_API void bernoulli(GeneratorImpl& gen, T* out, std::int64_t n, double p);
// bernoulli_(tensor). P: the four float types; T: any.
template <class T, class P> FL_API void bernoulli_each(GeneratorImpl& gen, T* out, const P* p, std::int64_t n);

// randperm(n). T: the integer types and f32, f64, f16, bf16, wide enough to hold n - 1.
template <class T> FL_API void randperm(GeneratorImpl& gen, T* out, std::int64_t n);

// multinomial of `rows` distributions over `categories`, weights row-major and contiguous; out is (rows, num_samples).
// Throws RuntimeError on a negative, infinite or NaN weight, and on a row that sums to nothing. Without replacement, a
// row with fewer than num_samples nonzero weights goes on with zero weights, as in torch. T: the four float types.
template <class T>
FL_API void multinomial(GeneratorImpl& gen, std::int64_t* out, const T* weights, std::int64_t rows,
                        std::int64_t categories, std::int64_t num_samples, bool replacement);

}  // namespace flambeau::random
