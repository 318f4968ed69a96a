// SPDX-License-Identifier: GPL-2.0-or-later
// The events of one CPU, merged by time where a trace has several channels, with what the order of events tells: which
// task runs (sched_switch) and in which interrupt (LTTng's irq events).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/ctf/graph.hpp"
#include "formats/ctf/record_builder.hpp"

namespace kmt::ctf {

// The task of an event, where the trace does not tell it.
inline constexpr std::int32_t kUnknownTask = -1;

struct Step {
  enum class Kind : std::uint8_t { event, loss, damage };
  Kind kind = Kind::event;
  std::uint64_t time_ns = 0;            // of the event; where a loss ends; the last time before damage
  const bt_event* event = nullptr;      // valid until the next step
  std::optional<std::uint64_t> lost{};  // events that were lost; empty: it does not say how many
  std::string detail{};                 // of losses and damage
  std::uint64_t since_ns = 0;           // of a loss: the last event in front of where it may begin
};

// One stream of the trace, event by event. Needs a graph that lives longer.
class StreamCursor {
 public:
  StreamCursor(Graph& graph, std::size_t stream) : graph_(graph), stream_(stream) {}

  // Goes to the next step; false at the end. What is known of the stream is known after the first call.
  bool advance();
  const Step& step() const { return step_; }
  const bt_stream* stream() const { return stream_ref_; }  // null: it ended before it told
  unsigned cpu() const { return cpu_.value_or(0); }

 private:
  bool take(const bt_message* message);
  void hold_discarded(const bt_message* message);
  void take_discarded_packets(const bt_message* message);
  bool give_held_loss();
  bool give_damage();
  void begin_packet(const bt_packet* packet);

  Graph& graph_;
  std::size_t stream_;
  Messages messages_;
  Step step_;
  // Discarded events are told in front of the packet whose header counts them. A tracer discards them when that one is
  // full and the next is not free yet: behind its last event, and so they are given there.
  std::optional<Step> held_loss_;
  std::optional<std::string> damage_;      // at which the stream ended
  const bt_stream* stream_ref_ = nullptr;  // held by the graph's component
  std::optional<unsigned> cpu_;
  std::uint64_t last_ns_ = 0;
  bool ended_ = false;
};

// What is wrong with an event, by its name.
void report(Imperfection kind, const Step& step, unsigned cpu, Findings& findings);

class CpuEvents {
 public:
  explicit CpuEvents(RecordBuilder& records) : records_(records) {}
  // A cursor that stands at its first step.
  void add(std::unique_ptr<StreamCursor> stream) { streams_.push_back(std::move(stream)); }

  // The next step, null at the end; valid until the next call.
  const Step* next();
  // Of the event that next() gave; null when its class has no description. Call once.
  const EventRecord* record();

 private:
  RecordBuilder& records_;
  std::vector<std::unique_ptr<StreamCursor>> streams_;
  StreamCursor* current_ = nullptr;
  std::int32_t task_ = kUnknownTask;
  std::uint8_t context_ = 0;
};

}  // namespace kmt::ctf
