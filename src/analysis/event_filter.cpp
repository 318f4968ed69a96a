// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/event_filter.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace kmt {

const char* interrupt_name(const Event& event) {
  if ((event.context & Context::kNmi) != 0) return "[nmi]";
  if ((event.context & Context::kHardIrq) != 0) return "[hardirq]";
  if ((event.context & Context::kSoftIrq) != 0) return "[softirq]";
  return nullptr;
}

EventFilter::EventFilter(ReportFilter filter, const TraceInfo& info)
    : filter_(std::move(filter)),
      info_(info),
      selects_all_(filter_.cpus.empty() && filter_.pids.empty() && filter_.comms.empty()) {}

bool EventFilter::selects_some(const Event& event) {
  if (!filter_.cpus.empty() && !filter_.cpus.contains(event.cpu)) return false;
  if (!filter_.pids.empty() && (interrupt_name(event) != nullptr || !filter_.pids.contains(event.tid))) return false;
  return filter_.comms.empty() || selects_comm(event);
}

bool EventFilter::selects_comm(const Event& event) {
  if (const char* const interrupt = interrupt_name(event)) return matches_comm(interrupt);
  const auto [known, inserted] = comm_of_task_.try_emplace(event.tid, false);
  if (inserted) {
    const auto comm = info_.comms.find(event.tid);
    // The idle tasks have no entry in saved_cmdlines.
    const std::string name = comm != info_.comms.end() ? comm->second : event.tid == 0 ? "<idle>" : "<...>";
    known->second = matches_comm(name);
  }
  return known->second;
}

bool EventFilter::matches_comm(const std::string& comm) const {
  return std::any_of(filter_.comms.begin(), filter_.comms.end(),
                     // A name in brackets is no character class: interrupts are asked for as they are printed.
                     [&](const std::string& pattern) { return pattern == comm || glob_match(pattern, comm); });
}

}  // namespace kmt
