// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out whether the kernel preempts tasks in kernel mode.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

// in_kernel: preempt=full or preempt=lazy. A lazy kernel waits for a timer tick before it preempts most tasks.
enum class Preemption : std::uint8_t { other, in_kernel, unknown };

// Determines the preemption from sched/preempt in debugfs (such as "none (voluntary) full"; empty if unreadable),
// /proc/cmdline and uname -v.
Preemption preemption_of(std::string_view model, std::string_view arguments, std::string_view version);

Preemption kernel_preemption();

}  // namespace kmt
