// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/event_stream.hpp"

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "analysis/matching/missing_frees.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "analysis/series/memory_series.hpp"
#include "base/error.hpp"

namespace kmt {

struct EventStream::State {
  State(const TraceInfo& trace_info, const SymbolNames& symbols, const ReportRequest& request, EventSink& event_sink)
      : info(trace_info),
        tasks(request.tasks ? *request.tasks : trace_info.tasks),
        caches(trace_info),
        grouping({}, trace_info, tasks, symbols, caches, {}),
        classifier(EventFilter(request.filter, trace_info, tasks, symbols, caches), grouping),
        matching(trace_info.recording.page_identity, trace_info.machine.page_size),
        sink(event_sink) {}

  void number_allocations();
  void stream(std::uint32_t index, const PagesTaken* first, const PagesTaken* last);
  std::string_view cache_of(const Event& event);

  const TraceInfo& info;
  const TraceTasks& tasks;
  CacheNames caches;
  Grouping grouping;
  Classifier classifier;
  Matching matching;
  EventSink& sink;
  MatchedBatch batch;
  BatchOrigins origins;
  std::vector<EndedPart> ended;  // allocations, or parts of them, that the current event ends
  std::uint32_t allocations = 0;
  FreeCounts frees{};
  // By event kind: true if the trace has allocation events of this kind.
  std::array<bool, std::tuple_size_v<FreeCounts>> allocated{};
  EventSpan seen;
  EventSpan given;
};

EventStream::EventStream(const TraceInfo& info, const SymbolNames& symbols, const ReportRequest& request,
                         EventSink& sink)
    : state_(std::make_unique<State>(info, symbols, request, sink)) {}
EventStream::~EventStream() = default;

CacheNames& EventStream::cache_names() { return state_->caches; }

// Replaces the origin in each step, which a report uses for groups, by the number of the allocation. The matchers do
// not interpret origins: they return this number when the allocation is freed.
void EventStream::State::number_allocations() {
  for (Step& step : batch.steps) {
    if (step.origin == 0) continue;
    if (allocations == std::numeric_limits<std::uint32_t>::max())
      throw Error("The trace has more allocations than can be numbered: 4,294,967,295")
          .hint("Select a part of it with --time");
    step.origin = ++allocations;
  }
}

std::string_view EventStream::State::cache_of(const Event& event) {
  if (is_slab_alloc(event.kind)) return caches[caches.id_of(event)];
  return is_slab_free(event.kind) ? info.tables.cache_names[event.cache.value] : std::string_view();
}

void EventStream::State::stream(std::uint32_t index, const PagesTaken* first, const PagesTaken* last) {
  const Event& event = batch.events[index];
  const Step& step = batch.steps[index];
  if (step.outcome == Outcome::unseen) return;
  seen.add(event);
  const auto kind = static_cast<std::size_t>(event.kind);
  if (is_free(event.kind) || event.kind == EventKind::page_free) ++frees[kind];
  ended.clear();
  const bool allocates = begins(step.outcome) || step.outcome == Outcome::failed;
  if (allocates) allocated[kind] = true;
  if (step.outcome == Outcome::freed && allocator_of(event.kind) != Allocator::pages && step.origin != 0)
    ended.push_back({step.origin, step.began_ns, {}, step.began_cpu, true});
  if (begins(step.outcome) && step.replaced != 0)
    ended.push_back({step.replaced, step.began_ns, {}, step.began_cpu, true});
  for (const PagesTaken* part = first; part != last; ++part)
    if (part->origin != 0)
      ended.push_back(
          {part->origin, part->began_ns, part->pages * info.machine.page_size, part->began_cpu, part->head});

  const bool is_selected = allocates                        ? step.origin != 0
                           : step.outcome == Outcome::freed ? !ended.empty()
                                                            : step.selected;
  // An allocation that the filter excludes may end an allocation that the filter selects. The end of the selected
  // allocation must be passed on.
  if (!is_selected && ended.empty()) return;
  given.add(event);
  sink.add({&event, step.outcome, allocates ? step.origin : 0, task_name(tasks, event.tid, event.time_ns),
            context_name(event), cache_of(event), ended,
            event.kind == EventKind::page_alloc && is_of_slab(grouping.page_use_of(event))});
}

void EventStream::add(EventBatch& events) {
  State& state = *state_;
  MatchedBatch& batch = state.batch;
  std::swap(batch.events, events);
  state.classifier.classify(batch, state.origins);
  state.number_allocations();
  for (unsigned unit = 0; unit < kUnits; ++unit) state.matching.match(batch, unit);
  const PagesTaken* pages = batch.pages.data();
  const PagesTaken* const end = pages + batch.pages.size();
  for (std::uint32_t i = 0; i < batch.events.size(); ++i) {
    const PagesTaken* const first = pages;
    while (pages != end && pages->event == i) ++pages;
    state.stream(i, first, pages);
  }
}

void EventStream::finish(bool complete) {
  const State& state = *state_;
  const RecordedTime recorded = recorded_time(state.info, state.seen, state.classifier.filter(), complete);
  std::array<bool, kAllocators> lacking{};
  for (std::size_t i = 0; i < state.allocated.size(); ++i)
    if (const auto kind = static_cast<EventKind>(i); state.allocated[i] && lacks_frees(state.info, kind, state.frees))
      lacking[static_cast<std::size_t>(allocator_of(kind))] = true;
  state.sink.end(
      {state.given.first_ns, recorded.from_ns, recorded.to_ns, state.given.events, complete,
       frees_missing_until(state.info, recorded.to_ns) > 0 || !hiding_events(state.info, recorded.to_ns).empty(),
       lacking, memory_series_of(state.info.recording.samples, state.info.machine.page_size)});
}

}  // namespace kmt
