// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the kernel preempts a task in kernel mode.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

enum class Preemption : std::uint8_t { other, full, unknown };

// From debugfs' sched/preempt ("none (voluntary) full"; empty: unreadable), /proc/cmdline and uname -v.
Preemption preemption_of(std::string_view model, std::string_view arguments, std::string_view version);

Preemption kernel_preemption();

}  // namespace kmt
