#include "cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace flambeau {

namespace {

int affinity_cpus() {
  // The kernel refuses a mask shorter than its own: machines beyond 1,024 CPUs need a longer one.
  for (int cpus = 1024; cpus <= 65536; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const int count = ok ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (ok) return std::max(count, 1);
  }
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

// The numbers in a file, as many as `wanted`; "max" (no limit) does not parse.
int read_numbers(const char* path, long long* values, int wanted) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  int got = 0;
  while (got < wanted && std::fscanf(file, "%lld", &values[got]) == 1) ++got;
  std::fclose(file);
  return got;
}

// CPUs' worth of time per period, rounded up; 0 without a limit.
long long quota_cpus() {
  long long v[2];
  if (read_numbers("/sys/fs/cgroup/cpu.max", v, 2) != 2) {
    if (read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", v, 1) != 1) return 0;
    if (read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", v + 1, 1) != 1) return 0;
  }
  return v[0] > 0 && v[1] > 0 ? (v[0] + v[1] - 1) / v[1] : 0;
}

}  // namespace

int available_cpus() {
  const int cpus = affinity_cpus();
  const long long quota = quota_cpus();
  return quota > 0 && quota < cpus ? static_cast<int>(quota) : cpus;
}

}  // namespace flambeau
