// Random numbers: mt19937 and Philox against published values, the state's bytes, and the fills against
// rng_goldens.json, recorded from torch. Usage: random_test [path of rng_goldens.json]
#include "flambeau/core/random.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"
#include "flambeau/core/error.h"

using namespace flambeau;

namespace {

std::string fnv1a(const unsigned char* data, std::size_t n) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < n; ++i) h = (h ^ data[i]) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

std::string hex(const unsigned char* data, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", data[i]);
    out += text;
  }
  return out;
}

// The text after `"key": ` on a line that holds one record.
std::string field(const std::string& line, const std::string& key) {
  const std::string mark = "\"" + key + "\": ";
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t start = at + mark.size();
  if (line[start] == '"') return line.substr(start + 1, line.find('"', start + 1) - start - 1);
  if (line[start] == '[') return line.substr(start + 1, line.find(']', start) - start - 1);
  return line.substr(start, line.find_first_of(",}", start) - start);
}

// Calls the fill that a record names, for elements of type T.
template <class T>
bool fill(const std::string& op, GeneratorImpl& g, T* out, std::int64_t n, const std::vector<std::string>& args) {
  const auto number = [&](std::size_t i) { return std::strtod(args[i].c_str(), nullptr); };
  const auto integer = [&](std::size_t i) { return std::strtoll(args[i].c_str(), nullptr, 10); };
  if (op == "random_from_to") return random::random_from_to(g, out, n, integer(0), integer(1)), true;
  if (op == "random_full_range") return random::random_full_range(g, out, n), true;
  if (op == "random_any") return random::random_any(g, out, n), true;
  if (op == "randperm") return random::randperm(g, out, n), true;
  if (op == "bernoulli") return random::bernoulli(g, out, n, number(0)), true;
  if (op == "geometric") return random::geometric(g, out, n, number(0)), true;
  if constexpr (!std::is_integral_v<T>) {
    if (op == "uniform") return random::uniform(g, out, n, number(0), number(1)), true;
    if (op == "normal") return random::normal(g, out, n, number(0), number(1)), true;
    if (op == "normal_serial") return random::normal_serial(g, out, n, number(0), number(1)), true;
    if (op == "log_normal") return random::log_normal(g, out, n, number(0), number(1)), true;
    if (op == "cauchy") return random::cauchy(g, out, n, number(0), number(1)), true;
    if (op == "exponential") return random::exponential(g, out, n, number(0)), true;
  }
  return false;
}

template <class T>
std::vector<unsigned char> bytes_of(const std::string& op, GeneratorImpl& g, std::int64_t n,
                                    const std::vector<std::string>& args) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(n) * sizeof(T));
  EXPECT(fill(op, g, reinterpret_cast<T*>(bytes.data()), n, args), "unknown op " + op);
  return bytes;
}

std::vector<unsigned char> multinomial_bytes(GeneratorImpl& g, std::int64_t n, bool replacement) {
  const float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<unsigned char> bytes(static_cast<std::size_t>(n) * 8);
  random::multinomial(g, reinterpret_cast<std::int64_t*>(bytes.data()), weights, 1, 8, n, replacement);
  return bytes;
}

std::vector<unsigned char> run(const std::string& line, GeneratorImpl& g) {
  const std::string op = field(line, "op"), dtype = field(line, "dtype");
  const std::int64_t n = std::atoll(field(line, "n").c_str());
  std::vector<std::string> args;
  std::stringstream list(field(line, "args"));
  for (std::string item; std::getline(list, item, ',');) args.push_back(item);
  if (op == "multinomial") return multinomial_bytes(g, n, args[0] == "1");
  if (dtype == "f32") return bytes_of<float>(op, g, n, args);
  if (dtype == "f64") return bytes_of<double>(op, g, n, args);
  if (dtype == "f16") return bytes_of<Half>(op, g, n, args);
  if (dtype == "bf16") return bytes_of<BFloat16>(op, g, n, args);
  if (dtype == "bool") return bytes_of<bool>(op, g, n, args);
  if (dtype == "u8") return bytes_of<std::uint8_t>(op, g, n, args);
  if (dtype == "i8") return bytes_of<std::int8_t>(op, g, n, args);
  if (dtype == "i16") return bytes_of<std::int16_t>(op, g, n, args);
  if (dtype == "i32") return bytes_of<std::int32_t>(op, g, n, args);
  return bytes_of<std::int64_t>(op, g, n, args);
}

void test_goldens(const char* path) {
  std::ifstream file(path);
  EXPECT(file.good(), std::string("cannot read ") + path);
  auto* g = new GeneratorImpl;
  int records = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string op = field(line, "op");
    if (op.empty()) continue;
    ++records;
    if (field(line, "seed") != "null") g->manual_seed(std::strtoull(field(line, "seed").c_str(), nullptr, 10));
    const std::vector<unsigned char> got = run(line, *g);
    if (const std::string bits = field(line, "bits"); !bits.empty())
      EXPECT(hex(got.data(), got.size()) == bits, line.substr(0, 120));
    else
      EXPECT(fnv1a(got.data(), got.size()) == field(line, "hash"), line.substr(0, 120));
    unsigned char state[GeneratorImpl::kStateBytes];
    g->get_state(state);
    EXPECT(fnv1a(state, sizeof state) == field(line, "state"), "state after " + line.substr(0, 120));
  }
  EXPECT(records > 200, std::to_string(records));
  g->release();
}

void test_engines() {
  Mt19937 engine(5489);
  std::uint32_t value = 0;
  for (int i = 0; i < 10000; ++i) value = engine();
  EXPECT(value == 4123659995u, "the 10,000th number, as the C++ standard gives it");
  Mt19937 one(7), many(7);
  std::vector<std::uint32_t> filled(5000);
  many.fill(filled.data(), 3);
  many.fill(filled.data() + 3, 0);
  many.fill(filled.data() + 3, 4000);
  for (int i = 4003; i < 5000; ++i) filled[static_cast<std::size_t>(i)] = many();
  bool same = true;
  for (const std::uint32_t x : filled) same = same && x == one();
  EXPECT(same && one.left == many.left && one.next == many.next, "fill equals one by one");

  std::uint32_t out[4];
  Philox4x32::block(0, 0, 0, out);
  EXPECT(out[0] == 0x6627e8d5u && out[1] == 0xe169c58du && out[2] == 0xbc57ac4cu && out[3] == 0x9b00dbd8u,
         "known answers of the Random123 library");
  Philox4x32::block(~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}, out);
  EXPECT(out[0] == 0x408f276du && out[1] == 0x41c83b0eu && out[2] == 0xa20bc7c6u && out[3] == 0x6d5451fdu, "all ones");
  Philox4x32 philox(11, 3), jumped(11, 3);
  for (int i = 0; i < 8; ++i) philox();
  jumped.advance(2);
  EXPECT(philox() == jumped(), "advance skips groups of four");
}

void test_state() {
  auto* g = new GeneratorImpl(3);
  float sink[5];
  random::normal(*g, sink, 5);  // leaves half a pair
  std::vector<unsigned char> state(GeneratorImpl::kStateBytes);
  g->get_state(state.data());
  GeneratorImpl* copy = g->clone();
  auto* restored = new GeneratorImpl(99);
  restored->set_state(state.data(), state.size());
  EXPECT(restored->initial_seed() == 3, "the seed is part of the state");
  float a[20], b[20], c[20];
  for (int round = 0; round < 50; ++round) {
    random::normal_serial(*g, a, 19);
    random::normal_serial(*copy, b, 19);
    random::normal_serial(*restored, c, 19);
    EXPECT(std::memcmp(a, b, sizeof(float) * 19) == 0 && std::memcmp(a, c, sizeof(float) * 19) == 0, "same stream");
  }
  const auto refused = [&](std::size_t at, unsigned char value, std::size_t size) {
    std::vector<unsigned char> bad = state;
    bad[at] = value;
    bad.resize(size);
    try {
      restored->set_state(bad.data(), bad.size());
    } catch (const Error& e) {
      return e.kind == ErrorKind::Runtime;
    }
    return false;
  };
  EXPECT(refused(0, 3, 5055), "too short");
  EXPECT(refused(11, 0x80, 5056), "left is negative");
  EXPECT(refused(23, 1, 5056), "next is beyond the state");
  EXPECT(refused(12, 0, 5056), "not seeded");
  EXPECT(g->seed() != g->seed(), "system entropy");
  for (GeneratorImpl* each : {g, copy, restored}) each->release();
}

void test_multinomial_errors() {
  auto* g = new GeneratorImpl(1);
  std::int64_t out[2];
  for (const float bad : {-1.0f, INFINITY, NAN, 0.0f}) {
    const float weights[2] = {bad, 0};
    for (const bool replacement : {true, false}) {
      bool thrown = false;
      try {
        random::multinomial(*g, out, weights, 1, 2, 2, replacement);
      } catch (const Error&) {
        thrown = true;
      }
      EXPECT(thrown, concat("weight ", bad));
    }
  }
  g->release();
}

template <class F> double ns_per_element(F f) {
  double best = 1e18;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (took.count() < best) best = took.count();
  }
  return best / 1e6;
}

void report_speed() {
  auto& g = default_generator();
  std::vector<float> f(1000000);
  std::vector<std::int64_t> l(1000000);
  std::printf(
      "ns per element of a million: uniform %.2f, normal %.2f, bernoulli %.2f, random_from_to %.2f, randperm %.2f\n",
      ns_per_element([&] { random::uniform(g, f.data(), 1000000); }),
      ns_per_element([&] { random::normal(g, f.data(), 1000000); }),
      ns_per_element([&] { random::bernoulli(g, f.data(), 1000000, 0.3); }),
      ns_per_element([&] { random::random_from_to(g, l.data(), 1000000, 0, 10); }),
      ns_per_element([&] { random::randperm(g, l.data(), 1000000); }));
}

}  // namespace

int main(int argc, char** argv) {
  test_engines();
  test_state();
  const std::string source = __FILE__;
  const std::string beside = source.substr(0, source.find_last_of('/') + 1) + "../rng_goldens.json";
  test_goldens(argc > 1 ? argv[1] : beside.c_str());
  test_multinomial_errors();
  report_speed();
  return finish("random");
}
