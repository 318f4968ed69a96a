// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/live_run.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/support/command_end.hpp"
#include "cli/support/say.hpp"
#include "cli/support/types_option.hpp"

namespace kmt {

namespace {

std::optional<std::chrono::nanoseconds> duration_of(const LiveOptions& options) {
  if (options.duration.empty()) return {};
  const std::chrono::nanoseconds duration(parse_duration(options.duration));
  if (duration.count() == 0) throw Error("--duration must be longer than 0");
  return duration;
}

bool has_ended(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

}  // namespace

LiveRun::LiveRun(const LiveOptions& options) : options_(options), duration_(duration_of(options)) {
  if (!options.command.empty()) command_.emplace(options.command);
  selection_ = selection_of(options, command_ ? std::optional(command_->pid()) : std::nullopt);
  use_types(options.btf);
  say_types_of_programs();
  say_caveats();
}

void LiveRun::start(const char* what) {
  if (command_) command_->release();
  start_ = Clock::now();
  if (what == nullptr || (options_.pids.empty() && ::isatty(STDERR_FILENO) != 1)) return;
  say("{}{}\n", what, options_.command.empty() && options_.duration.empty() ? "; press Ctrl+C to stop" : "");
}

bool LiveRun::goes_on() {
  if (interrupt_.interrupted() || (duration_ && Clock::now() - start_ >= *duration_)) return false;
  if (command_) return !command_->poll();
  const auto& processes = selection_.processes;
  return processes.empty() || !std::ranges::all_of(processes, has_ended);
}

int LiveRun::say_end() {
  const std::optional<int> status = command_ ? command_->poll() : std::nullopt;
  if (!status) return 0;
  say("{}\n", describe_command_end(options_.command.front(), *status));
  return interrupt_.interrupted() ? 0 : passed_on(*status);
}

bool stdout_has_no_reader() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace kmt
