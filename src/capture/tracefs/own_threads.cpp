// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/own_threads.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace kmt {

bool knows_kernel_pids() {
  struct stat status {};
  constexpr ino_t kInitialNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, include/linux/proc_ns.h
  return ::stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kInitialNamespace;
}

std::optional<std::string> filter_without(const std::vector<pid_t>& threads) {
  std::string filter = "(";
  for (const pid_t thread : threads)
    filter += fmt::format("{}common_pid != {}", filter.size() == 1 ? "" : " && ", thread);
  filter += ") || (common_flags & 0x58)";
  if (filter.size() > kMostFilterBytes) return std::nullopt;
  return filter;
}

}  // namespace kmt
