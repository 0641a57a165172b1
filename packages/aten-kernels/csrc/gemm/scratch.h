// Workspace for the length of one call, from the caching allocator: 64-byte aligned, contents undefined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/core/allocator.h"

namespace flambeau::gemm {

template <class T> class Scratch {
 public:
  explicit Scratch(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(T)),
        data_(count > 0 ? static_cast<T*>(allocate(bytes_)) : nullptr) {}
  ~Scratch() {
    if (data_ != nullptr) deallocate(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace flambeau::gemm
