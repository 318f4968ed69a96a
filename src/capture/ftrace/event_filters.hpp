// SPDX-License-Identifier: GPL-2.0-or-later
// Event filters in the kernel: the user's, and one that excludes the recorder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

constexpr std::size_t kMostFilterBytes = 4000;  // the kernel takes less than a page, which is at least 4096 bytes

// Returns an event filter that drops these threads' events in task context. Interrupts on top of them belong to the
// system and stay: common_flags has bits for hard interrupts (0x08), soft interrupts (0x10) and NMIs (0x40). Empty if
// it would exceed the kernel's limit of a page; the caller then uses set_event_notrace_pid, which drops those
// interrupts too.
std::optional<std::string> filter_without(const std::vector<pid_t>& threads);

// Sets all filters, and excludes these threads' events except frees: a free belongs to its allocation, and the kernel
// often frees other tasks' objects in the recorder. True if it had to use set_event_notrace_pid because the expression
// was too long. Throws Error with the kernel's complaint about a wrong expression.
bool set_event_filters(const TracefsInstance& instance, const std::vector<EventName>& events,
                       const std::vector<KernelFilter>& filters, const std::vector<pid_t>& left_out);

}  // namespace kmt
