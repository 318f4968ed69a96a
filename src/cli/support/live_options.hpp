// SPDX-License-Identifier: GPL-2.0-or-later
// Options of the commands that watch the running kernel with BPF programs.
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
  bool no_probes = false;
  std::string btf;  // value of --btf
  std::vector<std::string> command;
};

// Adds -a, -p, --cgroup, -d, --no-probes, --btf and COMMAND. `options` must outlive the command.
void add_live_options(Command& command, LiveOptions& options);
// Adds --no-probes. `no_probes` must outlive the command.
void add_no_probes_option(Command& command, bool& no_probes);

// Returns the selected tasks. `child` is the process of COMMAND, which has not started yet. Throws Error.
BpfSelection selection_of(const LiveOptions& options, std::optional<pid_t> child);
// Returns the selection in words, such as "process 812" or "cgroup a/b". Returns an empty text for the whole machine.
std::string selection_text(const LiveOptions& options);
// Prints notes on stderr about features that newer kernels have and this kernel does not.
void say_caveats();

}  // namespace kmt
