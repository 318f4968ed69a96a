// SPDX-License-Identifier: GPL-2.0-or-later
// The options of all commands that watch the running kernel through BPF.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/bpf/selection.hpp"
#include "cli/support/options.hpp"

namespace kmt {

struct LiveOptions {
  bool all = false;
  std::vector<std::string> pids;
  std::string cgroup;
  std::string duration;
  std::vector<std::string> command;
};

// -a, -p, --cgroup, -d and COMMAND. The options must outlive the command.
void add_live_options(Command& command, LiveOptions& options);

// Returns the selected tasks; `child` is the held command's process. Throws Error.
BpfSelection selection_of(const LiveOptions& options, std::optional<pid_t> child);
// The same in words: "process 812", "cgroup a/b"; empty for the whole machine.
std::string selection_text(const LiveOptions& options);
// Notes on stderr the restrictions of this kernel compared with newer ones.
void say_caveats();

}  // namespace kmt
