// SPDX-License-Identifier: GPL-2.0-or-later
// The command to trace. Its process starts immediately, but executes the command only when tracing is on. Until then,
// the process shares the recorder's memory, because a waiting thread started it with vfork. After a fork, the process
// would first free its copy of this memory, and the trace would show these frees as work of the command.
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
  // Creates the process. Throws Error if the command does not exist or no process can be started.
  explicit HeldCommand(const std::vector<std::string>& arguments);
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;
  ~HeldCommand();  // requests a running command to end (SIGTERM)

  pid_t pid() const { return pid_; }
  // The thread that waits for the exec. It lives as long as this object.
  pid_t thread() const { return thread_; }
  // True until the command is started or ended.
  bool is_held() const { return go_.get() >= 0; }
  // Starts the command. Throws Error if that fails.
  void release();
  // Returns the command's wait status after its end.
  std::optional<int> poll();
  // Ends a held command. Requests a started command to end and waits for one second.
  void terminate();

 private:
  void end_starter();
  void let_stop() const;

  std::vector<std::string> arguments_;
  std::latch ended_{1};
  // Action of SIGTSTP before the command was held. SIGTSTP is ignored while the command is held, and this action is
  // restored later.
  struct sigaction original_stop_ {};
  std::thread starter_;
  std::atomic<pid_t> thread_{-1};
  FileDescriptor go_;      // connection to the child; closing it ends a held child
  FileDescriptor failed_;  // a failed exec writes errno to this pipe; a successful exec closes it
  pid_t pid_ = -1;
  std::optional<int> status_;
  bool asked_to_end_ = false;
};

}  // namespace kmt
