// SPDX-License-Identifier: GPL-2.0-or-later
// Filters of events in the kernel: those that the user wants, and the one that leaves the recorder out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

constexpr std::size_t kMostFilterBytes = 4000;  // the kernel takes less than a page, 4096 bytes at the least

// An event filter that drops what these threads do in task context. Interrupts that run on top of them belong to the
// system and stay: common_flags has bits for hard interrupts (0x08), soft interrupts (0x10) and NMIs (0x40). Empty if
// it would exceed the page that the kernel allows; the caller then uses set_event_notrace_pid, which drops those
// interrupts too.
std::optional<std::string> filter_without(const std::vector<pid_t>& threads);

// Sets them all, each event but frees also without what these threads do: a free belongs to its allocation, and the
// kernel often runs those of others in the recorder. True when that had to be done by set_event_notrace_pid,
// for an expression would have become too long. Throws Error with what the kernel says of a wrong
// expression.
bool set_event_filters(const TracefsInstance& instance, const std::vector<EventName>& events,
                       const std::vector<KernelFilter>& filters, const std::vector<pid_t>& left_out);

}  // namespace kmt
