// SPDX-License-Identifier: GPL-2.0-or-later
// The events of one CPU, merged by time over a trace's channels. The order of events shows the running task
// (sched_switch) and the interrupt (LTTng's irq events).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/ctf/graph.hpp"
#include "formats/ctf/record_builder.hpp"

namespace kmt::ctf {

// The task of an event if the trace does not have it.
inline constexpr std::int32_t kUnknownTask = -1;

struct Step {
  enum class Kind : std::uint8_t { event, loss, damage };
  Kind kind = Kind::event;
  std::uint64_t time_ns = 0;            // of the event; the end of a loss; the last time before damage
  const bt_event* event = nullptr;      // valid until the next step
  std::optional<std::uint64_t> lost{};  // lost events; empty: unknown number
  std::string detail{};                 // of losses and damage
  std::uint64_t since_ns = 0;           // of a loss: the last event before its possible start
};

// One stream of the trace, event by event. The graph must outlive it.
class StreamCursor {
 public:
  StreamCursor(Graph& graph, std::size_t stream) : graph_(graph), stream_(stream) {}

  // Goes to the next step; false at the end. The first call finds the stream.
  bool advance();
  const Step& step() const { return step_; }
  const bt_stream* stream() const { return stream_ref_; }  // null: it ended before any message
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
  // Discarded events appear before the packet whose header counts them. They are reported after the previous packet's
  // last event: a tracer discards when that packet is full and the next is not yet free.
  std::optional<Step> held_loss_;
  std::optional<std::string> damage_;      // at the stream's end
  const bt_stream* stream_ref_ = nullptr;  // held by the graph's component
  std::optional<unsigned> cpu_;
  std::uint64_t last_ns_ = 0;
  bool ended_ = false;
};

// Reports damage of an event, with the event's name.
void report(Imperfection kind, const Step& step, unsigned cpu, Findings& findings);

class CpuEvents {
 public:
  explicit CpuEvents(RecordBuilder& records) : records_(records) {}
  // A cursor at its first step.
  void add(std::unique_ptr<StreamCursor> stream) { streams_.push_back(std::move(stream)); }

  // The next step, null at the end; valid until the next call.
  const Step* next();
  // Returns the record of next()'s event; null if its class has no description. Call once.
  const EventRecord* record();

 private:
  RecordBuilder& records_;
  std::vector<std::unique_ptr<StreamCursor>> streams_;
  StreamCursor* current_ = nullptr;
  std::int32_t task_ = kUnknownTask;
  std::uint8_t context_ = 0;
};

}  // namespace kmt::ctf
