// SPDX-License-Identifier: GPL-2.0-or-later
// Raises the priority of threads that must keep up with the kernel, and of the thread that ends the recording. At
// normal priority, the recording would end much too late if the recorded tasks keep the CPUs busy.
#pragma once

#include <sys/resource.h>

namespace kmt {

// Raises the priority of the calling thread for the lifetime of the object. Has no effect without permission.
class HighPriorityScope {
 public:
  HighPriorityScope() : before_(::getpriority(PRIO_PROCESS, 0)) { ::setpriority(PRIO_PROCESS, 0, kNice); }
  ~HighPriorityScope() { ::setpriority(PRIO_PROCESS, 0, before_); }
  HighPriorityScope(const HighPriorityScope&) = delete;
  HighPriorityScope& operator=(const HighPriorityScope&) = delete;

 private:
  static constexpr int kNice = -20;

  int before_;
};

}  // namespace kmt
