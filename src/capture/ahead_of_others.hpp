// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that must keep up with the kernel get a high priority, and so does the thread that ends their recording: on
// CPUs busy with them and the recorded tasks it would act much too late.
#pragma once

#include <sys/resource.h>

namespace kmt {

// For this thread, during the object's life. Without permission it has no effect.
class AheadOfOthers {
 public:
  AheadOfOthers() : before_(::getpriority(PRIO_PROCESS, 0)) { ::setpriority(PRIO_PROCESS, 0, kNice); }
  ~AheadOfOthers() { ::setpriority(PRIO_PROCESS, 0, before_); }
  AheadOfOthers(const AheadOfOthers&) = delete;
  AheadOfOthers& operator=(const AheadOfOthers&) = delete;

 private:
  static constexpr int kNice = -20;

  int before_;
};

}  // namespace kmt
