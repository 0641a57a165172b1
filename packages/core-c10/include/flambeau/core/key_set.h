#pragma once
/// Dispatch keys. The highest key present in (arguments | include) & ~exclude picks the kernel.
#include <cstdint>

#include "flambeau/core/export.h"

namespace flambeau {

enum class Key : uint8_t {
  // backends, at most one a tensor
  CPU = 0,
  CUDA = 1,
  Meta = 2,
  PrivateUse1 = 3,
  XPU = 4,
  MPS = 5,
  SparseCPU = 6,
  // below autograd, above every backend
  Python = 14,      ///< a tensor subclass with __torch_dispatch__
  PythonMode = 15,  ///< an active __torch_dispatch__ mode
  // functionality
  Autograd = 16,
  Autocast = 20,
  Functorch = 22,
};
inline constexpr int kNumKeys = 32;

using KeySet = uint32_t;
constexpr KeySet key_bit(Key k) { return KeySet{1} << static_cast<int>(k); }
constexpr KeySet keys_below(Key k) { return key_bit(k) - 1; }
inline constexpr KeySet kBackendKeys = keys_below(Key::Python);
FL_API const char* key_name(Key k);

/// Thread state that dispatch reads. `exclude` holds Autograd while gradients are off.
struct DispatchState {
  KeySet include = 0;
  KeySet exclude = 0;
  bool inference_mode = false;
  bool torch_function_disabled = false;
  bool has_function_mode = false;  ///< a __torch_function__ mode is active
  bool anomaly_mode = false;
  bool no_grad = false;  ///< the program turned recording off; not set while a recorded operator runs its kernel
};
extern FL_API thread_local constinit DispatchState tls_dispatch __attribute__((tls_model("initial-exec")));
inline DispatchState& dispatch_state() { return tls_dispatch; }

inline bool grad_enabled() { return !(dispatch_state().exclude & key_bit(Key::Autograd)); }

/// Excludes keys for a scope.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(KeySet ks) : saved_(dispatch_state().exclude) { dispatch_state().exclude |= ks; }
  ~ExcludeKeys() { dispatch_state().exclude = saved_; }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ExcludeKeys& operator=(const ExcludeKeys&) = delete;

 private:
  KeySet saved_;
};

/// Turns recording of gradients on or off for a scope.
class GradMode {
 public:
  explicit GradMode(bool enabled) : saved_(dispatch_state().exclude), saved_no_grad_(dispatch_state().no_grad) {
    auto& s = dispatch_state();
    s.exclude = enabled ? s.exclude & ~key_bit(Key::Autograd) : s.exclude | key_bit(Key::Autograd);
    s.no_grad = !enabled;
  }
  ~GradMode() {
    dispatch_state().exclude = saved_;
    dispatch_state().no_grad = saved_no_grad_;
  }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  KeySet saved_;
  bool saved_no_grad_;
};

}  // namespace flambeau
