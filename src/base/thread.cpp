// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/thread.hpp"

#include <fmt/format.h>

namespace kmt {

void throw_thread_error(const std::string& what, const std::system_error& error) {
  throw Error(fmt::format("Cannot start {}: {}", what, error.code().message()), ExitCode::unsupported)
      .hint("Raise the limit on threads: `ulimit -u`, or pids.max of the cgroup; or end other processes");
}

}  // namespace kmt
