#pragma once
/// torch's schema language: "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/core/value.h"

namespace flambeau {

enum class ArgKind : uint8_t {
  Tensor,
  Int,
  Float,
  Bool,
  Scalar,
  String,
  DType,
  Layout,
  MemoryFormat,
  Device,
  Generator,
  Storage,
  Stream,
  Object,
  Dimname
};

struct SchemaArg {
  std::string name;
  ArgKind kind = ArgKind::Tensor;
  bool list = false;
  bool optional = false;        ///< the whole argument may be None
  bool optional_items = false;  ///< Tensor?[]
  bool kwarg_only = false;
  bool out = false;      ///< an output argument: alias annotation with '!' after the star
  bool mutated = false;  ///< "(a!)"
  bool aliased = false;  ///< "(a)"
  char alias_set = 0;
  int fixed_length = 0;  ///< int[2]: a single int stands for all
  bool has_default = false;
  Value default_value;  ///< points into the owned fields below
  std::vector<int64_t> default_ints;
  std::vector<double> default_doubles;
  std::vector<uint8_t> default_bools;
  std::string default_string;
  std::string type_text;  ///< as written: "int[2]?"
};

struct SchemaReturn {
  std::string name;  ///< empty when unnamed
  ArgKind kind = ArgKind::Tensor;
  bool list = false;
  bool mutated = false;
  bool aliased = false;
  char alias_set = 0;
  std::string type_text;
};

struct FL_API Schema {
  std::string ns, name, overload;
  std::vector<SchemaArg> args;
  std::vector<SchemaReturn> returns;
  std::string text;
};

/// Throws RuntimeError with the position of the first character that does not fit.
FL_API Schema* parse_schema(std::string_view text);

}  // namespace flambeau
