#include "iterator/result_strides.h"

namespace flambeau {

namespace {

// Positive: dim `a` must be outside dim `b`; negative: inside; 0: nothing is known.
int compare(IntList sizes, const std::vector<std::vector<int64_t>>& strides, size_t a, size_t b) {
  for (const auto& s : strides) {
    if (s[a] == 0 || s[b] == 0) continue;
    if (s[a] != s[b]) return s[a] < s[b] ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

std::vector<int64_t> ordered_strides(IntList sizes, const std::vector<std::vector<int64_t>>& operand_strides) {
  const size_t n = sizes.size();
  std::vector<size_t> order(n);  // innermost first
  for (size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
  for (size_t i = 1; i < n; ++i) {
    size_t moving = i;
    for (size_t j = i; j-- > 0;) {
      const int c = compare(sizes, operand_strides, order[j], order[moving]);
      if (c > 0) {
        std::swap(order[j], order[moving]);
        moving = j;
      } else if (c < 0) {
        break;
      }
    }
  }
  bool row_major = true;
  for (size_t i = 0; i < n; ++i) row_major = row_major && order[i] == n - 1 - i;
  if (row_major) return {};
  std::vector<int64_t> strides(n);
  int64_t step = 1;
  for (const size_t d : order) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace flambeau
