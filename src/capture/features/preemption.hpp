// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the running kernel lets a task take another one's CPU while that one is at work in the kernel.
#pragma once

#include <string_view>

namespace kmt {

// From the text of debugfs' sched/preempt ("none (voluntary) full"; empty: not readable), /proc/cmdline and uname -v.
bool preempts_itself(std::string_view model, std::string_view arguments, std::string_view version);

bool kernel_preempts_itself();

}  // namespace kmt
