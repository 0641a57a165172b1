#pragma once
/// Reference counting inside the object: one machine word a handle, no control block.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "flambeau/core/export.h"

namespace flambeau {

struct RefCount {
  std::atomic<uint32_t> value{1};
  void inc() { value.fetch_add(1, std::memory_order_relaxed); }
  /// True when this was the last reference. A sole owner skips the locked instruction.
  bool dec() {
    if (value.load(std::memory_order_acquire) == 1) return true;
    return value.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  uint32_t count() const { return value.load(std::memory_order_acquire); }
};

/// T has `RefCount refs` and a free function `void destroy(T*)` found by argument-dependent lookup.
template <class T> class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  static Ref steal(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  static Ref borrow(T* p) {
    if (p) p->refs.inc();
    return steal(p);
  }
  Ref(const Ref& o) : p_(o.p_) {
    if (p_) p_->refs.inc();
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(const Ref& o) {
    Ref(o).swap(*this);
    return *this;
  }
  Ref& operator=(Ref&& o) noexcept {
    Ref(std::move(o)).swap(*this);
    return *this;
  }
  ~Ref() {
    if (p_ && p_->refs.dec()) destroy(p_);
  }
  void swap(Ref& o) noexcept { std::swap(p_, o.p_); }
  T* get() const { return p_; }
  T* release() { return std::exchange(p_, nullptr); }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

/// Per-thread freelist for objects of one size. glibc's aligned_alloc alone costs more than a whole small operator.
template <class Tag, size_t Size, int Capacity = 512> class FreeList {
 public:
  static void* take() {
    Local& l = local_;
    if (FL_LIKELY(l.head != nullptr)) {
      void* p = l.head;
      l.head = *static_cast<void**>(p);
      --l.count;
      return p;
    }
    return allocate_slow();
  }
  static void give(void* p) {
    Local& l = local_;
    if (FL_LIKELY(l.count < l.capacity)) {
      *static_cast<void**>(p) = l.head;
      l.head = p;
      ++l.count;
      return;
    }
    ::operator delete(p, std::align_val_t(64));
  }

 private:
  // Without a destructor, so that access needs no guard; the thread's end is watched by `Cleanup`, made on the slow
  // path.
  struct Local {
    void* head;
    int count;
    int capacity;  // 0 until the thread allocates, and again when it ends
  };
  struct Cleanup {
    ~Cleanup() {
      Local& l = local_;
      l.capacity = 0;
      l.count = 0;
      while (l.head) {
        void* p = l.head;
        l.head = *static_cast<void**>(p);
        ::operator delete(p, std::align_val_t(64));
      }
    }
    void touch() {}
  };
  [[gnu::noinline]] static void* allocate_slow() {
    static thread_local Cleanup cleanup;
    cleanup.touch();
    local_.capacity = Capacity;
    return ::operator new(Size, std::align_val_t(64));
  }
  static inline constinit thread_local Local local_{nullptr, 0, 0};
};

}  // namespace flambeau
