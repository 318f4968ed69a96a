// SPDX-License-Identifier: GPL-2.0-or-later
// Filters of events in the kernel: those that the user wants, and the one that leaves the recorder out.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

// What of an event shall be recorded: "bytes_req > 4096" (Documentation/trace/events.rst, "Event filtering").
struct KernelFilter {
  EventName event;
  std::string expression;
};

// Sets them all, each event but frees also without what these threads do: a free belongs to its allocation, and the
// kernel often runs those of others in the recorder. True when that had to be done by set_event_notrace_pid,
// for an expression would have become too long: see own_threads.hpp. Throws Error with what the kernel says of a wrong
// expression.
bool set_event_filters(const TracefsInstance& instance, const std::vector<EventName>& events,
                       const std::vector<KernelFilter>& filters, const std::vector<pid_t>& left_out);

// Whether an event is the free of memory that may be others': the recorder's own are recorded.
bool frees_memory(const EventName& event);

}  // namespace kmt
