// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/event_filter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "trace/code/function_name.hpp"
#include "trace/page_block.hpp"

namespace kmt {

namespace {

bool matches(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     // Names are also compared literally: "[softirq]" is the name of an interrupt, but as a glob it
                     // would match one character.
                     [&](const std::string& pattern) { return pattern == text || glob_match(pattern, text); });
}

}  // namespace

std::uint64_t TimeEdge::on_clock(std::uint64_t first_ns) const {
  if (!relative) return ns;
  return first_ns > ~std::uint64_t{0} - ns ? ~std::uint64_t{0} : first_ns + ns;
}

WindowRange range_of(const TimeWindow& window, std::uint64_t first_ns) {
  WindowRange range;
  if (window.from) range.from_ns = window.from->on_clock(first_ns);
  if (window.to) range.to_ns = window.to->on_clock(first_ns);
  if (window.from && window.to && range.from_ns >= range.to_ns)
    throw Error(fmt::format("The time window starts at {:.9f} s and ends at {:.9f} s",
                            static_cast<double>(range.from_ns) / 1e9, static_cast<double>(range.to_ns) / 1e9))
        .hint("Write the start first. A time with a leading + counts from the first event of the trace");
  return range;
}

const char* interrupt_name(const Event& event) {
  if ((event.context & Context::kNmi) != 0) return "[nmi]";
  if ((event.context & Context::kHardIrq) != 0) return "[hardirq]";
  if ((event.context & Context::kSoftIrq) != 0) return "[softirq]";
  return nullptr;
}

std::string_view context_name(const Event& event) {
  const char* const interrupt = interrupt_name(event);
  if (interrupt == nullptr) return "task";
  const std::string_view name(interrupt);
  return name.substr(1, name.size() - 2);
}

EventFilter::EventFilter(ReportFilter filter, const TraceInfo& info, const TraceTasks& tasks,
                         const SymbolNames& symbols, CacheNames& caches)
    : filter_(std::move(filter)),
      info_(info),
      tasks_(tasks),
      symbols_(symbols),
      caches_(caches),
      selects_all_(filter_.cpus.empty() && filter_.pids.empty() && filter_.comms.empty() && filter_.contexts.empty() &&
                   !filter_.selects_by_allocation()),
      by_allocation_(filter_.selects_by_allocation()) {}

void EventFilter::begin(std::uint64_t first_ns) { window_ = range_of({filter_.from, filter_.to}, first_ns); }

bool EventFilter::selects_some(const Event& event) {
  if (!filter_.cpus.empty() && !filter_.cpus.contains(event.cpu)) return false;
  if (!filter_.pids.empty() && (interrupt_name(event) != nullptr || !filter_.pids.contains(event.tid))) return false;
  if (!filter_.contexts.empty() && !matches(filter_.contexts, std::string(context_name(event)))) return false;
  if (!filter_.comms.empty() && !selects_comm(event)) return false;
  return !by_allocation_ || selects_allocation(event);
}

bool EventFilter::selects_comm(const Event& event) const {
  const char* const interrupt = interrupt_name(event);
  return matches(filter_.comms, interrupt != nullptr ? std::string(interrupt)
                                                     : std::string(task_name(tasks_, event.tid, event.time_ns)));
}

bool EventFilter::selects_allocation(const Event& event) {
  const bool of_pages = event.kind == EventKind::page_alloc;
  if (!is_allocation(event.kind) && !of_pages) return false;
  const std::uint64_t bytes = of_pages ? block_bytes(info_, event.order) : event.bytes_allocated;
  if (filter_.least_bytes && bytes < *filter_.least_bytes) return false;
  if (filter_.most_bytes && bytes > *filter_.most_bytes) return false;
  if (!filter_.call_sites.empty() && (event.call_site.value == 0 || !selects_call_site(event.call_site))) return false;
  return filter_.caches.empty() ||
         (is_slab_alloc(event.kind) && matches(filter_.caches, caches_[caches_.id_of(event)]));
}

bool EventFilter::selects_call_site(CallSiteId id) {
  if (call_site_answers_.size() <= id.value) call_site_answers_.resize(info_.tables.call_sites.size());
  Answer& answer = call_site_answers_[id.value];
  if (answer == Answer::unknown) {
    const std::string symbol = id.value == 0 ? "" : symbols_.name(info_.tables.call_sites[id.value]);
    const bool selected = std::ranges::any_of(
        filter_.call_sites, [&symbol](const std::string& glob) { return matches_site(glob, symbol); });
    answer = selected ? Answer::yes : Answer::no;
  }
  return answer == Answer::yes;
}

}  // namespace kmt
