#include "flambeau/core/device.h"

#include <mutex>

#include "flambeau/core/error.h"
#include "flambeau/core/key_set.h"

namespace flambeau {
namespace {

std::string g_privateuse1 = "privateuseone";
std::mutex g_privateuse1_mutex;

struct NamedDevice {
  DeviceType type;
  const char* name;
};
constexpr NamedDevice kDevices[] = {
    {DeviceType::CPU, "cpu"}, {DeviceType::CUDA, "cuda"}, {DeviceType::Meta, "meta"}, {DeviceType::MPS, "mps"},
    {DeviceType::XPU, "xpu"}, {DeviceType::XLA, "xla"},   {DeviceType::HPU, "hpu"},
};

}  // namespace

const char* device_type_name(DeviceType t) {
  for (const auto& d : kDevices)
    if (d.type == t) return d.name;
  return g_privateuse1.c_str();
}

std::string to_string(Device d) {
  std::string s = device_type_name(d.type);
  if (d.index >= 0) s += ":" + std::to_string(d.index);
  return s;
}

void rename_privateuse1(std::string_view name) {
  std::lock_guard lock(g_privateuse1_mutex);
  FL_CHECK(g_privateuse1 == "privateuseone" || g_privateuse1 == name,
           "[rename_privateuse1_backend] the backend is already named '", g_privateuse1, "', got '", name, "'");
  g_privateuse1 = name;
}

Device parse_device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  Device d;
  bool known = false;
  for (const auto& k : kDevices)
    if (type == k.name) {
      d.type = k.type;
      known = true;
    }
  if (!known && (type == g_privateuse1 || type == "privateuseone")) {
    d.type = DeviceType::PrivateUse1;
    known = true;
  }
  FL_CHECK(known && !text.empty(), "Expected one of cpu, cuda, meta, mps, xpu, xla, hpu, ", g_privateuse1,
           " device type at start of device string: ", type);
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    bool ok = !digits.empty() && digits.size() <= 3 && (digits.size() == 1 || digits[0] != '0');
    int index = 0;
    for (char c : digits) {
      ok = ok && c >= '0' && c <= '9';
      index = index * 10 + (c - '0');
    }
    FL_CHECK(ok && index < 128, "Invalid device string: '", text, "'; the index must be a number from 0 to 127");
    d.index = static_cast<int8_t>(index);
  }
  return d;
}

const char* key_name(Key k) {
  switch (k) {
    case Key::CPU: return "CPU";
    case Key::CUDA: return "CUDA";
    case Key::Meta: return "Meta";
    case Key::PrivateUse1: return "PrivateUse1";
    case Key::XPU: return "XPU";
    case Key::MPS: return "MPS";
    case Key::SparseCPU: return "SparseCPU";
    case Key::Autograd: return "Autograd";
    case Key::Autocast: return "Autocast";
    case Key::Functorch: return "FuncTorch";
    case Key::PythonMode: return "PythonDispatcher";
    case Key::Python: return "Python";
  }
  return "Undefined";
}

thread_local constinit DispatchState tls_dispatch __attribute__((tls_model("initial-exec")));

}  // namespace flambeau
