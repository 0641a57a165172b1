// Errors: message text, classes, kinds, and that parts are not evaluated into text unless the check fails.
#include "flambeau/core/error.h"

#include <vector>

#include "check.h"

namespace shapes {
struct Point {
  int x, y;
};
void append_text(std::string& out, const Point& p) { out += flambeau::concat("<", p.x, ",", p.y, ">"); }
}  // namespace shapes

using namespace flambeau;

template <class E, class F> static void expect(F f, const std::string& text, ErrorKind kind) {
  try {
    f();
  } catch (const E& e) {
    EXPECT(std::string(e.what()).find(text) != std::string::npos, e.what());
    EXPECT(e.kind == kind, text);
    return;
  }
  EXPECT(false, "nothing was thrown: " + text);
}

int main() {
  EXPECT(concat("a", 3, -4, 'c', 2.5, 2.0, true, std::string("z")) == "a3-4c2.52.0Truez", "concat");
  EXPECT(concat(std::vector<int>{1, 2, 3}, shapes::Point{1, 2}) == "[1, 2, 3]<1,2>", "lists and own types");
  EXPECT(concat(1e300, " ", -0.1, " ", static_cast<unsigned char>(7)) == "1e+300 -0.1 7", concat(1e300, " ", -0.1));
  const int rank = 2;
  expect<Error>([&] { FL_CHECK(rank > 2, "[sum] rank ", rank); }, "[sum] rank 2", ErrorKind::Runtime);
  expect<ValueError>([&] { FL_CHECK_VALUE(false, "v"); }, "v", ErrorKind::Value);
  expect<TypeError>([&] { FL_CHECK_TYPE(false, "t"); }, "t", ErrorKind::Type);
  expect<IndexError>([&] { FL_CHECK_INDEX(false, "i"); }, "i", ErrorKind::Index);
  expect<NotImplementedError>([&] { FL_CHECK_NOT_IMPLEMENTED(false, "n"); }, "n", ErrorKind::NotImplemented);
  expect<ShapeError>([&] { FL_CHECK_SHAPE(false, "s"); }, "s", ErrorKind::Shape);
  expect<DTypeError>([&] { FL_CHECK_DTYPE(false, "d"); }, "d", ErrorKind::DType);
  expect<DeviceError>([&] { FL_CHECK_DEVICE(false, "d"); }, "d", ErrorKind::Device);
  expect<FormatError>([&] { FL_CHECK_FORMAT(false, "f"); }, "f", ErrorKind::Format);
  expect<InternalError>([&] { FL_INTERNAL_CHECK(rank == 3); }, "rank == 3 (error_test.cpp:", ErrorKind::Internal);
  expect<InternalError>([&] { FL_INTERNAL_CHECK(rank == 3, "rank ", rank); },
                        "rank 2; this is a bug in flambeau, please report it", ErrorKind::Internal);
  expect<Error>([] { throw_error(ErrorKind::Value, "base"); }, "base", ErrorKind::Value);
  FL_CHECK(true, "not thrown");
  return finish("error");
}
