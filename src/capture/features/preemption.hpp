// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the kernel takes the CPU from a task that is inside of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

enum class Preemption : std::uint8_t { other, full, unknown };

// From the text of debugfs' sched/preempt ("none (voluntary) full"; empty: not readable), /proc/cmdline and uname -v.
Preemption preemption_of(std::string_view model, std::string_view arguments, std::string_view version);

Preemption kernel_preemption();

}  // namespace kmt
