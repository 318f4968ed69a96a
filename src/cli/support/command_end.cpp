// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/command_end.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/text.hpp"

namespace kmt {

std::string describe_command_end(const std::string& command, int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("{} was killed by signal {}", printable(command), WTERMSIG(wait_status));
  return fmt::format("{} exited with {}", printable(command), WEXITSTATUS(wait_status));
}

int passed_on(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace kmt
