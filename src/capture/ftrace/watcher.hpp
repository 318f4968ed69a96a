// SPDX-License-Identifier: GPL-2.0-or-later
// A small process that removes the recorder's tracing instance if the recorder is killed (SIGKILL, out of memory). In a
// borrowed instance, it disables the events. Otherwise, the enabled events would cost CPU time on the traced machine,
// and the ring buffers memory.
#pragma once

#include <string>

#include <sys/types.h>

#include "base/file.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

class Watcher {
 public:
  // Forks a process, so it must be called before any thread starts. Throws Error.
  explicit Watcher(const InstanceUse& instance);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  // Ends the watcher. Unless it was dismissed, it calls end_use() for the instance before it ends.
  ~Watcher();

  // Informs the watcher that the use of the instance has ended, so it does not end the use of a later recorder.
  void dismiss() const;

  pid_t pid() const { return pid_; }

 private:
  // this process closes it, or the kernel does when the process dies; the closing wakes the watcher
  FileDescriptor alive_;
  pid_t pid_ = -1;
};

}  // namespace kmt
