// How the elements of one operand lie in memory, against what a block function sees.
#pragma once

#include <cstdint>

namespace flambeau {

enum class Form : uint8_t { kPlain, kFloat16, kBFloat16 };  // the half kinds are seen as float

struct Lane {
  uint8_t size;  // bytes per element in memory
  Form form = Form::kPlain;
};

}  // namespace flambeau
