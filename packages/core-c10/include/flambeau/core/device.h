#pragma once
/// Where a tensor lives: a device type and an index (-1: the current one of that type).
#include <cstdint>
#include <string>
#include <string_view>

#include "flambeau/core/export.h"

namespace flambeau {

// Numbers are torch's, since they are written into checkpoints.
enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  XLA = 9,
  MPS = 13,
  Meta = 14,
  XPU = 12,
  HPU = 15,
  PrivateUse1 = 20
};

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;
  friend bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
};

FL_API const char* device_type_name(DeviceType t);
FL_API std::string to_string(Device d);
/// Parses "cpu", "cuda:1", ...; throws RuntimeError naming what is allowed.
FL_API Device parse_device(std::string_view text);
/// The name that PrivateUse1 answers to (default "privateuseone").
FL_API void rename_privateuse1(std::string_view name);

}  // namespace flambeau
