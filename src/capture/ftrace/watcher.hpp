// SPDX-License-Identifier: GPL-2.0-or-later
// A small process that removes the recorder's tracing instance if the recorder dies suddenly (SIGKILL, out of memory).
// Otherwise enabled events would cost the traced machine time, and ring buffers memory.
#pragma once

#include <string>

#include <sys/types.h>

#include "base/file.hpp"

namespace kmt {

class Watcher {
 public:
  // Forks: call it before any thread starts. Throws Error.
  explicit Watcher(const std::string& instance);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  // Ends the watcher, which removes the instance if it still exists.
  ~Watcher();

  pid_t pid() const { return pid_; }

 private:
  FileDescriptor alive_;  // closed by this process or its death, which wakes the watcher
  pid_t pid_ = -1;
};

}  // namespace kmt
