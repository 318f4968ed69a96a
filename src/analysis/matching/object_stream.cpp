// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/object_stream.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "analysis/matching/matching.hpp"
#include "base/error.hpp"

namespace kmt {

struct ObjectStream::State {
  State(const TraceInfo& trace_info, const SymbolNames& symbol_names, CacheNames& caches, ObjectSink& object_sink)
      : info(trace_info),
        symbols(symbol_names),
        grouping({GroupKey::cache}, info, info.tasks, symbols, caches, {}),
        classifier(EventFilter({}, info, info.tasks, symbols, caches), grouping),
        matching(info.recording.page_identity, info.machine.page_size),
        sink(object_sink) {}

  void send_kinds();
  void number_objects();
  void stream(const Event& event, const Step& step);
  std::uint32_t take_number(std::uint32_t kind);

  const TraceInfo& info;
  const SymbolNames& symbols;
  Grouping grouping;
  Classifier classifier;
  Matching matching;
  ObjectSink& sink;
  MatchedBatch batch;
  BatchOrigins origins;
  std::vector<std::uint32_t> kind_of;  // index: number of the object
  std::vector<std::uint32_t> free;
  EventSpan span;
};

ObjectStream::ObjectStream(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, ObjectSink& sink)
    : state_(std::make_unique<State>(info, symbols, caches, sink)) {}
ObjectStream::~ObjectStream() = default;

const EventSpan& ObjectStream::span() const { return state_->span; }

void ObjectStream::State::send_kinds() {
  for (const Origin& origin : origins.new_origins) {
    const KeyValue name = grouping.values_of(origin.group, symbols).front();
    const auto* const cache = std::get_if<std::string>(&name);
    sink.kind({origin, cache == nullptr ? std::string() : *cache});
  }
}

std::uint32_t ObjectStream::State::take_number(std::uint32_t kind) {
  if (free.empty()) {
    if (kind_of.size() == std::numeric_limits<std::uint32_t>::max() - 1)
      throw Error("The trace has more live objects than can be numbered: 4,294,967,294").hint("Record a shorter time");
    kind_of.push_back(kind);
    return static_cast<std::uint32_t>(kind_of.size() - 1);
  }
  const std::uint32_t number = free.back();
  free.pop_back();
  kind_of[number] = kind;
  return number;
}

// Sets the origin of each allocation's step to the number of the object plus 1. The matchers do not interpret origins.
// When the object is freed, they return this number.
void ObjectStream::State::number_objects() {
  for (std::size_t i = 0; i < batch.steps.size(); ++i) {
    Step& step = batch.steps[i];
    if (step.origin != 0 && step.outcome != Outcome::failed && is_slab_alloc(batch.events[i].kind))
      step.origin = 1 + take_number(step.origin);
  }
}

void ObjectStream::State::stream(const Event& event, const Step& step) {
  const auto end = [&](std::uint32_t number, bool freed) {
    sink.ended(number, event, freed);
    free.push_back(number);
  };
  if (begins(step.outcome)) {
    if (step.replaced != 0) end(step.replaced - 1, false);
    sink.began(step.origin - 1, kind_of[step.origin - 1], event, step.outcome == Outcome::duplicate_event);
  } else if (step.outcome == Outcome::freed) {
    end(step.origin - 1, true);
  } else if (step.outcome == Outcome::allocated_before_trace || step.outcome == Outcome::double_or_untraced) {
    sink.freed_older(event);
  }
}

void ObjectStream::add(EventBatch& events) {
  State& state = *state_;
  MatchedBatch& batch = state.batch;
  std::swap(batch.events, events);
  state.classifier.classify(batch, state.origins);
  state.send_kinds();
  state.number_objects();
  for (unsigned unit = 0; unit < kSlabUnits; ++unit) state.matching.match(batch, unit);
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    state.span.add(event);
    if (is_slab_alloc(event.kind) || is_slab_free(event.kind)) state.stream(event, batch.steps[i]);
  }
}

}  // namespace kmt
