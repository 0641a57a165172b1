#pragma once

namespace flambeau {

// How many CPUs this process may keep busy: its affinity mask, or less where a cgroup quota says so. At least 1.
int available_cpus();

}  // namespace flambeau
