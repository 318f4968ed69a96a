// SPDX-License-Identifier: GPL-2.0-or-later
// The command to trace: forked at once, executed when tracing is on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/file.hpp"

namespace kmt {

class HeldCommand {
 public:
  // Forks: call before any thread is started. Throws Error.
  explicit HeldCommand(const std::vector<std::string>& arguments);
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;
  ~HeldCommand();  // a command that still runs is asked to end (SIGTERM)

  pid_t pid() const { return pid_; }
  // Lets it execute. Throws Error when it cannot be executed.
  void release();
  // Its wait status, once it has ended.
  std::optional<int> poll();
  // Asks it to end and waits a second for it.
  void terminate();

 private:
  std::vector<std::string> arguments_;
  FileDescriptor go_;      // closing it lets the child go on
  FileDescriptor failed_;  // the errno of a failed exec; closed by a successful one
  pid_t pid_ = -1;
  std::optional<int> status_;
  bool asked_to_end_ = false;
};

}  // namespace kmt
