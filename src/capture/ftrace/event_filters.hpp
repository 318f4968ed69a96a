// SPDX-License-Identifier: GPL-2.0-or-later
// Sets event filters in the kernel: the user's filters, and a filter that excludes the recorder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

constexpr std::size_t kMostFilterBytes = 4000;  // the kernel accepts less than a page, which has at least 4096 bytes

// Returns an event filter that drops the events of these threads in task context. Interrupts that occur in these
// threads belong to the system and are kept. In common_flags, 0x08 means hardirq, 0x10 softirq, and 0x40 NMI. Returns
// nothing if the filter would exceed the kernel's limit of a page. The caller then uses set_event_notrace_pid, which
// drops the interrupts as well.
std::optional<std::string> filter_without(const std::vector<pid_t>& threads);

// Sets all filters. Excludes the events of the threads in `omitted`, except frees. Frees are kept because the kernel
// often frees other tasks' objects in the recorder, and their allocations may be in the trace. Returns true if the
// expression would have been too long and set_event_notrace_pid was used instead. If an expression of `filters` is
// wrong, throws Error with the kernel's message.
bool set_event_filters(const TracefsInstance& instance, const std::vector<EventName>& events,
                       const std::vector<KernelFilter>& filters, const std::vector<pid_t>& omitted);

}  // namespace kmt
