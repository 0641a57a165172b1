#include "linalg/lapack.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "flambeau/core/error.h"
#include "flambeau/python/object.h"

namespace flambeau::lapack {

namespace {

std::atomic<void*> library{nullptr};

std::string library_path() {
  python::Owned module(PyImport_ImportModule("scipy_openblas32"));
  python::Owned folder(module ? PyObject_CallMethod(module.get(), "get_lib_dir", nullptr) : nullptr);
  const char* text = folder ? PyUnicode_AsUTF8(folder.get()) : nullptr;
  if (!text) {
    PyErr_Clear();
    FL_CHECK(
        false,
        "[linalg] LAPACK is not installed: it comes with the package scipy-openblas32; pip install scipy-openblas32");
  }
  return std::string(text) + "/libscipy_openblas.so";
}

// OpenBLAS makes its threads while it is loaded unless it is told not to.
void* open_with_one_thread(const std::string& path) {
  const char* before = std::getenv("OPENBLAS_NUM_THREADS");
  const std::string kept = before ? before : "";
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (before)
    setenv("OPENBLAS_NUM_THREADS", kept.c_str(), 1);
  else
    unsetenv("OPENBLAS_NUM_THREADS");
  return handle;
}

}  // namespace

void load() {
  if (library.load(std::memory_order_acquire)) return;
  const python::AcquireGil gil;  // also keeps two threads from loading at once
  if (library.load(std::memory_order_acquire)) return;
  const std::string path = library_path();
  void* handle = open_with_one_thread(path);
  FL_CHECK(handle, "[linalg] cannot load LAPACK from ", path, ": ", dlerror(), "; reinstall scipy-openblas32");
  if (void* set_threads = dlsym(handle, "scipy_openblas_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set_threads)(1);
  library.store(handle, std::memory_order_release);
}

void* find(char prefix, const char* name) {
  load();
  const std::string symbol = std::string("scipy_") + prefix + name + "_";
  void* address = dlsym(library.load(std::memory_order_acquire), symbol.c_str());
  FL_CHECK(address, "[linalg] the installed scipy-openblas32 has no ", symbol, "; upgrade it");
  return address;
}

}  // namespace flambeau::lapack
