// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that have to keep up with the kernel run before others, and so does the one that ends their recording: on
// CPUs that they and the recorded tasks keep busy it would end it much too late.
#pragma once

#include <sys/resource.h>

namespace kmt {

// Of this thread, as long as it exists. Where it is not permitted, it is a thread like others.
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
