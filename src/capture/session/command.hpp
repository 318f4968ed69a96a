// SPDX-License-Identifier: GPL-2.0-or-later
// The command to trace: its process starts at once, and executes the command when tracing is on. Until then it shares
// the recorder's memory (vfork, in a thread that waits meanwhile): freeing a copy would be traced as the command's
// work.
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
  ~HeldCommand();  // asks a running command to end (SIGTERM)

  pid_t pid() const { return pid_; }
  // The thread that waits for the exec, and lives as long as this object.
  pid_t thread() const { return thread_; }
  // Executes the command. Throws Error if that fails.
  void release();
  // Returns its wait status after its end.
  std::optional<int> poll();
  // Asks it to end and waits for a second.
  void terminate();

 private:
  void end_starter();
  void let_stop() const;

  std::vector<std::string> arguments_;
  std::latch ended_{1};
  struct sigaction stop_ {};  // action of SIGTSTP, which is ignored while the command is held
  std::thread starter_;
  std::atomic<pid_t> thread_{-1};
  FileDescriptor go_;      // closing it releases the child
  FileDescriptor failed_;  // errno of a failed exec; closed by a successful one
  pid_t pid_ = -1;
  std::optional<int> status_;
  bool asked_to_end_ = false;
};

}  // namespace kmt
