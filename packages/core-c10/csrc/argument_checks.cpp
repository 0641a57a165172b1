#include "flambeau/core/argument_checks.h"

#include <algorithm>

namespace flambeau {

void throw_check(const Operator& op, ErrorKind kind, const char* condition, const std::string& values) {
  throw_error(kind, concat("[", op.name, "] expected ", condition, ", but ", values));
}

std::string shown_sizes(const Tensor& t) { return t.defined() ? concat(t.sizes()) : "None"; }
std::string shown_dtype(const Tensor& t) { return t.defined() ? dtype_name(t.dtype()) : "None"; }

int64_t item_of(IntList list, int64_t index) {
  const int64_t n = static_cast<int64_t>(list.size());
  FL_CHECK_INDEX(-n <= index && index < n, "index ", index, " is out of range for a list of ", n);
  return list[static_cast<size_t>(index < 0 ? index + n : index)];
}

int64_t product_of(IntList list) {
  int64_t product = 1;
  for (const int64_t n : list)
    if (__builtin_mul_overflow(product, n, &product)) return -1;
  return product;
}

IntList part_of(IntList list, int64_t from, int64_t to) {
  const int64_t n = static_cast<int64_t>(list.size());
  const auto place = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  const int64_t begin = place(from), end = std::max(begin, place(to));
  return {list.data() + begin, static_cast<size_t>(end - begin)};
}

}  // namespace flambeau
