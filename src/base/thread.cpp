// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/thread.hpp"

#include <fmt/format.h>

namespace kmt {

Error thread_error(const std::string& what, std::string_view why) {
  return Error(fmt::format("Cannot start {}: {}", what, why), ExitCode::unsupported)
      .hint("Raise the limit on threads (`ulimit -u`, or pids.max of the cgroup), or end other processes");
}

}  // namespace kmt
