#pragma once
/// LAPACK from the wheel scipy-openblas32, loaded on first use and kept to one thread: the only pool is ours.
#include <complex>
#include <cstddef>
#include <cstdint>

namespace flambeau::lapack {

using Int = int32_t;

/// Loads the library. Call it once before work goes to other threads: it asks Python where the wheel is.
/// Throws RuntimeError saying what to install when there is none.
void load();
/// Address of a routine, say "dgetrf". Throws RuntimeError when the library lacks it.
void* find(char prefix, const char* name);

template <class T> struct Number;
template <> struct Number<float> {
  using Real = float;
  static constexpr char prefix = 's';
  static constexpr bool is_complex = false;
};
template <> struct Number<double> {
  using Real = double;
  static constexpr char prefix = 'd';
  static constexpr bool is_complex = false;
};
template <> struct Number<std::complex<float>> {
  using Real = float;
  static constexpr char prefix = 'c';
  static constexpr bool is_complex = true;
};
template <> struct Number<std::complex<double>> {
  using Real = double;
  static constexpr char prefix = 'z';
  static constexpr bool is_complex = true;
};
template <class T> using Real = typename Number<T>::Real;
template <class T> inline constexpr bool is_complex_v = Number<T>::is_complex;

/// The routine of element type T; complex ones may have another name (ormqr, unmqr).
template <class T> void* routine(const char* name, const char* complex_name = nullptr) {
  return find(Number<T>::prefix, is_complex_v<T> && complex_name ? complex_name : name);
}

/// Everything in Fortran is passed by address; lengths of strings follow the arguments.
template <class... A> inline void call(void* function, A... arguments) {
  reinterpret_cast<void (*)(A...)>(function)(arguments...);
}
inline constexpr size_t kOne = 1;

/// Length of workspace that a query put into its first element.
template <class T> Int work_length(T first) {
  double n;
  if constexpr (is_complex_v<T>)
    n = static_cast<double>(first.real());
  else
    n = static_cast<double>(first);
  return n < 1 ? 1 : static_cast<Int>(n * 1.0000001 + 1);  // a float may have lost the last digits
}

}  // namespace flambeau::lapack
