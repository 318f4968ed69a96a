// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/own_program.hpp"

#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "base/error.hpp"

namespace kmt {

pid_t start_own_program(std::vector<std::string> arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == 0) return child;
  throw Error(
      fmt::format("Cannot start kmemtrace {}: {}", arguments.size() > 1 ? arguments[1] : "", std::strerror(failure)));
}

}  // namespace kmt
