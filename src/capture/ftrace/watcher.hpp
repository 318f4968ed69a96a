// SPDX-License-Identifier: GPL-2.0-or-later
// A small process that outlives the recorder's sudden death (SIGKILL, out of memory) just long enough to remove its
// tracing instance: enabled events cost the traced machine time, and ring buffers memory, until someone removes them.
#pragma once

#include <string>

#include <sys/types.h>

#include "base/file.hpp"

namespace kmt {

class Watcher {
 public:
  // Forks: call before any thread is started. Throws Error.
  explicit Watcher(const std::string& instance);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  // Ends the watcher; it removes the instance if that is still there.
  ~Watcher();

  pid_t pid() const { return pid_; }

 private:
  FileDescriptor alive_;  // its closing, by us or by our death, wakes the watcher
  pid_t pid_ = -1;
};

}  // namespace kmt
