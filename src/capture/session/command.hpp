// SPDX-License-Identifier: GPL-2.0-or-later
// The command to trace: started at once, executed when tracing is on. Until then it has the recorder's own memory, not
// a copy (vfork, in a thread that waits meanwhile): a copy would be given back by the command, and traced as what it
// does.
#pragma once

#include <atomic>
#include <csignal>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/file.hpp"

namespace kmt {

class HeldCommand {
 public:
  // Throws Error.
  explicit HeldCommand(const std::vector<std::string>& arguments);
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;
  ~HeldCommand();  // a command that still runs is asked to end (SIGTERM)

  pid_t pid() const { return pid_; }
  // The thread that waits for it to execute, and is there as long as this.
  pid_t thread() const { return thread_; }
  // Lets it execute. Throws Error when it cannot be executed.
  void release();
  // Its wait status, once it has ended.
  std::optional<int> poll();
  // Asks it to end and waits a second for it.
  void terminate();

 private:
  void end_starter();
  void let_stop() const;

  std::vector<std::string> arguments_;
  std::latch ended_{1};
  struct sigaction stop_ {};  // what SIGTSTP does, which is ignored while the command is held
  std::thread starter_;
  std::atomic<pid_t> thread_{-1};
  FileDescriptor go_;      // closing it lets the child go on
  FileDescriptor failed_;  // the errno of a failed exec; closed by a successful one
  pid_t pid_ = -1;
  std::optional<int> status_;
  bool asked_to_end_ = false;
};

}  // namespace kmt
