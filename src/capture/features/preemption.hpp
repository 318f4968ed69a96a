// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out whether the kernel preempts tasks in kernel mode.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

enum class Preemption : std::uint8_t { other, full, unknown };

// Determines the preemption from sched/preempt in debugfs (such as "none (voluntary) full"; empty if unreadable),
// /proc/cmdline and uname -v.
Preemption preemption_of(std::string_view model, std::string_view arguments, std::string_view version);

Preemption kernel_preemption();

}  // namespace kmt
