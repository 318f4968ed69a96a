// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/check.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/freed_by.hpp"
#include "analysis/page_matcher.hpp"
#include "analysis/slab_matcher.hpp"
#include "analysis/trace_summary.hpp"
#include "base/text.hpp"

namespace kmt {

struct CheckAnalysis::State {
  State(const TraceInfo& trace_info, bool judge_pairs)
      : info(trace_info),
        pairs(judge_pairs),
        cache_object_may_be_kfreed(kfree_takes_cache_objects(trace_info.kernel)) {}

  void add(const Event& event);
  void check_allocation(const Event& event);
  void check_free(const Event& event);
  void check_pages(const Event& event);
  SlabMatcher& objects_of(EventKind kind) { return objects[static_cast<std::size_t>(allocator_of(kind))]; }
  // ", call site 0x…", where the kernel says it.
  std::string at_call_site(const Event& event) const {
    const std::uint64_t address = info.call_sites[event.call_site.value];
    return address == 0 ? "" : fmt::format(", call site {:#x}", address);
  }
  // The detail is composed only while examples of the kind are kept.
  template <typename Detail>
  void found(Imperfection kind, const Event& event, Detail&& detail) {
    if (!findings.wants(kind)) return findings.count(kind);
    const std::string& name = info.event_types[event.type.value].name;
    findings.add({kind, printable(name) + ": " + detail(), event.cpu, {}, event.time_ns});
  }

  const TraceInfo& info;
  bool pairs;
  bool cache_object_may_be_kfreed;
  EventSpan span;
  std::array<SlabMatcher, kPointerAllocators> objects;
  Findings findings;
};

void CheckAnalysis::State::add(const Event& event) {
  span.add(event);
  if (is_allocation(event.kind)) check_allocation(event);
  if (pairs && is_free(event.kind)) check_free(event);
  if (event.kind == EventKind::page_alloc || event.kind == EventKind::page_free) check_pages(event);
}

void CheckAnalysis::State::check_allocation(const Event& event) {
  if (event.address == 0)
    return found(Imperfection::failed_allocation, event,
                 [&] { return fmt::format("NULL for {} bytes{}", event.bytes_requested, at_call_site(event)); });
  if (is_slab_alloc(event.kind) && event.bytes_allocated < event.bytes_requested)
    found(Imperfection::allocated_less_than_requested, event, [&] {
      return fmt::format("{} of {} bytes{}", event.bytes_allocated, event.bytes_requested, at_call_site(event));
    });
  if (!pairs) return;
  const SlabMatcher::Allocation allocation = objects_of(event.kind).allocate(event, event.cache.value);
  if (!allocation.replaced || is_told_twice(allocation.object, event, info.page_size)) return;
  const auto pointer = [&] { return fmt::format("pointer {:#x}{}", event.address, at_call_site(event)); };
  found(allocation.object.free_came_early() ? Imperfection::free_before_allocation
                                            : Imperfection::allocation_on_live_pointer,
        event, pointer);
}

void CheckAnalysis::State::check_free(const Event& event) {
  const auto pointer = [&] { return fmt::format("pointer {:#x}{}", event.address, at_call_site(event)); };
  const auto [outcome, object] = objects_of(event.kind).release(event);
  if (outcome == FreeOutcome::allocated_before_trace) found(Imperfection::allocated_before_trace, event, pointer);
  if (outcome == FreeOutcome::double_or_untraced)
    found(Imperfection::double_free_or_untraced_allocation, event, pointer);
  if (is_slab_free(event.kind) && outcome == FreeOutcome::matched &&
      freed_by_wrong_family(object.from_cache(), event, cache_object_may_be_kfreed))
    found(Imperfection::freed_by_another_family, event, pointer);
  else if (outcome == FreeOutcome::matched && object.from_cache() && freed_to_wrong_cache(object.origin, event))
    found(Imperfection::freed_by_another_cache, event, pointer);
}

void CheckAnalysis::State::check_pages(const Event& event) {
  if (event.order > kMostPageOrder)
    found(Imperfection::impossible_order, event, [&] { return fmt::format("order {}", event.order); });
  else if (event.address == kNoPage && event.kind == EventKind::page_alloc)
    found(Imperfection::failed_allocation, event, [&] { return fmt::format("no page of order {}", event.order); });
}

CheckAnalysis::CheckAnalysis(const TraceInfo& info, bool pairs) : state_(std::make_unique<State>(info, pairs)) {}
CheckAnalysis::~CheckAnalysis() = default;

void CheckAnalysis::add(const EventBatch& batch) {
  for (const Event& event : batch) state_->add(event);
}

CheckResult CheckAnalysis::finish() {
  CheckResult result;
  result.trace = summarize(state_->info);
  state_->span.store_in(result.trace);
  result.findings = findings_of(state_->info);
  result.findings.merge(state_->findings);
  if (state_->info.clock == "local" && state_->info.cpus > 1)
    result.findings.add({Imperfection::clock_not_ordered, "local", {}, {}, {}});
  for (std::size_t kind = 0; kind < kImperfections.size(); ++kind)
    if (kImperfections[kind].severity != Severity::info &&
        result.findings.count_of(static_cast<Imperfection>(kind)) > 0)
      result.sound = false;
  return result;
}

}  // namespace kmt
