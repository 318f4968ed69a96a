// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/pid_namespace.hpp"

#include <sys/stat.h>

namespace kmt {

bool knows_kernel_pids() {
  struct stat status {};
  constexpr ino_t kInitialNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, include/linux/proc_ns.h
  return ::stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kInitialNamespace;
}

}  // namespace kmt
