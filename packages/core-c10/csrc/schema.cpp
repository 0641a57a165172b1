#include "flambeau/core/schema.h"

#include <charconv>
#include <cmath>
#include <memory>

namespace flambeau {
namespace {

struct NamedKind {
  const char* name;
  ArgKind kind;
};
constexpr NamedKind kKinds[] = {
    {"Tensor", ArgKind::Tensor},   {"int", ArgKind::Int},
    {"SymInt", ArgKind::Int},      {"float", ArgKind::Float},
    {"bool", ArgKind::Bool},       {"Scalar", ArgKind::Scalar},
    {"str", ArgKind::String},      {"ScalarType", ArgKind::DType},
    {"Layout", ArgKind::Layout},   {"MemoryFormat", ArgKind::MemoryFormat},
    {"Device", ArgKind::Device},   {"Generator", ArgKind::Generator},
    {"Storage", ArgKind::Storage}, {"Stream", ArgKind::Stream},
    {"Any", ArgKind::Object},      {"Dimname", ArgKind::Dimname},
    {"complex", ArgKind::Scalar},  {"number", ArgKind::Scalar},
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Recursive descent over one schema line.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema* run() {
    auto s = std::make_unique<Schema>();
    s->text = std::string(text_);
    s->name = word("an operator name");
    if (accept("::")) {
      s->ns = s->name;
      s->name = word("an operator name");
    }
    if (accept(".")) s->overload = word("an overload name");
    expect("(");
    bool kwarg_only = false;
    while (!accept(")")) {
      if (accept("*"))
        kwarg_only = true;
      else
        s->args.push_back(argument(kwarg_only));
      skip();
      if (!peek(")")) expect(",");
    }
    expect("->");
    returns(*s);
    skip();
    if (pos_ != text_.size()) fail("the end of the schema");
    return s.release();
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) {
    FL_CHECK(false, "[schema] expected ", wanted, " at position ", pos_, " of \"", text_, "\"",
             pos_ < text_.size() ? concat(", found '", text_[pos_], "'") : std::string(", found the end"));
    __builtin_unreachable();
  }
  void skip() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n')) ++pos_;
  }
  bool peek(std::string_view t) {
    skip();
    return text_.substr(pos_, t.size()) == t;
  }
  bool accept(std::string_view t) {
    if (!peek(t)) return false;
    pos_ += t.size();
    return true;
  }
  void expect(std::string_view t) {
    if (!accept(t)) fail(concat("'", t, "'"));
  }
  std::string word(std::string_view wanted) {
    skip();
    const size_t start = pos_;
    while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
    if (pos_ == start) fail(wanted);
    return std::string(text_.substr(start, pos_ - start));
  }

  template <class T> void type(T& a) {
    const size_t start = (skip(), pos_);
    const size_t at = pos_;
    const std::string name = word("a type");
    bool found = false;
    for (const auto& k : kKinds)
      if (name == k.name) {
        a.kind = k.kind;
        found = true;
      }
    if (!found) {
      pos_ = at;
      fail("a type (Tensor, int, float, bool, Scalar, str, ScalarType, Device, Generator...)");
    }
    alias(a);
    if constexpr (requires { a.optional; })
      suffixes(a);
    else if (accept("[")) {
      a.list = true;
      expect("]");
      if (!a.alias_set) alias(a);
    }
    a.type_text = std::string(text_.substr(start, pos_ - start));
  }
  template <class T> void alias(T& a) {
    if (!accept("(")) return;
    a.aliased = true;
    a.alias_set = word("an alias set")[0];
    while (!peek(")")) {
      if (accept("!"))
        a.mutated = true;
      else if (accept("->") || accept("|") || accept("*"))
        continue;
      else
        word("an alias set");
    }
    expect(")");
  }
  void suffixes(SchemaArg& a) {
    for (;;) {
      if (accept("?")) {
        if (peek("["))
          a.optional_items = true;
        else
          a.optional = true;
      } else if (accept("[")) {
        a.list = true;
        if (!peek("]")) a.fixed_length = std::stoi(word("a length"));
        expect("]");
        if (!a.alias_set) alias(a);
      } else {
        return;
      }
    }
  }

  SchemaArg argument(bool kwarg_only) {
    SchemaArg a;
    a.kwarg_only = kwarg_only;
    type(a);
    a.name = word("an argument name");
    a.out = a.mutated && kwarg_only;
    if (accept("=")) default_of(a);
    return a;
  }

  double number() {
    skip();
    double v = 0;
    const auto r = std::from_chars(text_.data() + pos_, text_.data() + text_.size(), v);
    if (r.ec != std::errc()) fail("a number");
    pos_ = static_cast<size_t>(r.ptr - text_.data());
    return v;
  }

  void default_of(SchemaArg& a) {
    a.has_default = true;
    if (accept("None")) return;
    if (a.list) return list_default(a);
    switch (a.kind) {
      case ArgKind::Bool: a.default_value = Value(boolean()); return;
      case ArgKind::Int: a.default_value = named_int(); return;
      case ArgKind::Float:
        a.default_value = accept("inf") ? Value(HUGE_VAL) : accept("-inf") ? Value(-HUGE_VAL) : Value(number());
        return;
      case ArgKind::Scalar: scalar_default(a); return;
      case ArgKind::String: string_default(a); return;
      case ArgKind::DType: a.default_value = dtype_default(); return;
      case ArgKind::MemoryFormat: a.default_value = Value(memory_format(word("a memory format"))); return;
      case ArgKind::Layout:
        word("a layout");
        a.default_value = Value(Layout::Strided);
        return;
      default: fail("None, the only default this type can have");
    }
  }
  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    fail("True or False");
  }
  Value named_int() {
    if (accept("Mean")) return Value(int64_t{1});
    if (accept("Sum")) return Value(int64_t{2});
    return Value(static_cast<int64_t>(number()));
  }
  void scalar_default(SchemaArg& a) {
    if (peek("True") || peek("False")) {
      a.default_value = Value(boolean());
      return;
    }
    if (accept("inf")) {
      a.default_value = Value(HUGE_VAL);
      return;
    }
    const size_t start = (skip(), pos_);
    const double v = number();
    const bool integral = text_.substr(start, pos_ - start).find_first_of(".en") == std::string_view::npos;
    a.default_value = integral ? Value(static_cast<int64_t>(v)) : Value(v);
  }
  void string_default(SchemaArg& a) {
    const char quote = peek("\"") ? '"' : '\'';
    expect(std::string_view(&quote, 1));
    while (pos_ < text_.size() && text_[pos_] != quote) a.default_string += text_[pos_++];
    ++pos_;
    a.default_value = Value(std::string_view());  // set by the reader: the string moves with the argument
    a.default_value.tag = Tag::String;
  }
  Value dtype_default() {
    const std::string name = word("a dtype");
    for (int i = 0; i < kNumDTypes; ++i)
      if (name == dtype_name(static_cast<DType>(i))) return Value(static_cast<DType>(i));
    if (name == "long") return Value(DType::Int64);
    fail("a dtype");
  }
  MemoryFormat memory_format(const std::string& name) {
    for (int i = 0; i < 4; ++i)
      if (name == memory_format_name(static_cast<MemoryFormat>(i))) return static_cast<MemoryFormat>(i);
    fail("contiguous_format, preserve_format, channels_last or channels_last_3d");
  }
  void list_default(SchemaArg& a) {
    const auto add = [&] {
      if (a.kind == ArgKind::Int)
        a.default_ints.push_back(static_cast<int64_t>(number()));
      else if (a.kind == ArgKind::Bool)
        a.default_bools.push_back(boolean());
      else
        a.default_doubles.push_back(number());
    };
    if (accept("[")) {
      while (!accept("]")) {
        add();
        if (!peek("]")) expect(",");
      }
    } else {
      for (int i = 0; i < std::max(1, a.fixed_length); ++i) {
        const size_t at = pos_;
        add();
        if (i + 1 < a.fixed_length) pos_ = at;
      }
    }
    a.default_value.tag = a.kind == ArgKind::Int    ? Tag::IntList
                          : a.kind == ArgKind::Bool ? Tag::BoolList
                                                    : Tag::DoubleList;
  }

  void returns(Schema& s) {
    const bool many = accept("(");
    if (many && accept(")")) return;
    do {
      SchemaReturn r;
      type(r);
      skip();
      if (pos_ < text_.size() && is_word(text_[pos_])) r.name = word("a result name");
      s.returns.push_back(std::move(r));
    } while (many && accept(","));
    if (many) expect(")");
  }

  std::string_view text_;
  size_t pos_ = 0;
};

// Lists and strings of defaults are owned by the argument, whose address is final only now.
void bind_defaults(Schema& s) {
  for (SchemaArg& a : s.args) {
    Value& v = a.default_value;
    if (!a.has_default) continue;
    switch (v.tag) {
      case Tag::IntList:
        v.ints = a.default_ints.data();
        v.size = static_cast<uint32_t>(a.default_ints.size());
        break;
      case Tag::DoubleList:
        v.doubles = a.default_doubles.data();
        v.size = static_cast<uint32_t>(a.default_doubles.size());
        break;
      case Tag::BoolList:
        v.bools = reinterpret_cast<const bool*>(a.default_bools.data());
        v.size = static_cast<uint32_t>(a.default_bools.size());
        break;
      case Tag::String:
        v.chars = a.default_string.data();
        v.size = static_cast<uint32_t>(a.default_string.size());
        break;
      default: break;
    }
  }
}

}  // namespace

Schema* parse_schema(std::string_view text) {
  Schema* s = Parser(text).run();
  bind_defaults(*s);
  return s;
}

}  // namespace flambeau
