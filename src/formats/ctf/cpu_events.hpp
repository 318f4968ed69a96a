// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the events of one CPU, and merges a trace's channels by time. Derives the running task from earlier
// sched_switch events, and the interrupt context from LTTng's irq events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/ctf/first_packets.hpp"
#include "formats/ctf/graph.hpp"
#include "formats/ctf/record_builder.hpp"

namespace kmt::ctf {

// The task ID of an event if the trace does not state the task.
inline constexpr std::int32_t kUnknownTask = -1;

struct Step {
  enum class Kind : std::uint8_t { event, loss, damage };
  Kind kind = Kind::event;
  std::uint64_t time_ns = 0;            // time of the event, end of the loss, or last time before damage
  const bt_event* event = nullptr;      // valid until the next step
  std::optional<std::uint64_t> lost{};  // number of lost events; empty if unknown
  std::string detail{};                 // text for losses and damage
  std::uint64_t since_ns = 0;           // for a loss: the loss began after this time
};

// Reads one stream of the trace, event by event. The graph and `earlier` must outlive the cursor.
class StreamCursor {
 public:
  StreamCursor(Graph& graph, std::size_t stream, const EarlierPackets& earlier)
      : graph_(graph), stream_(stream), earlier_(earlier) {}

  // Goes to the next step; returns false at the end. stream() is valid after the first call.
  bool advance();
  const Step& step() const { return step_; }
  const bt_stream* stream() const { return stream_ref_; }  // null if the stream ended before any message
  unsigned cpu() const { return cpu_.value_or(0); }
  bool has_cpu() const { return cpu_.has_value(); }

  // Call this at the first step. `first_ns` is the earliest time of all streams. If packets before the stream's first
  // one are missing, the first step is a loss that begins at `first_ns`. The loss is skipped if the stream begins
  // together with the others, because it then overlaps no events. Returns false at the end.
  bool begin_at(std::uint64_t first_ns);

 private:
  bool take(const bt_message* message);
  void hold_discarded(const bt_message* message);
  bool take_discarded_packets(const bt_message* message);
  bool give(std::optional<Step>& held);
  bool give_damage();
  void begin_stream(const bt_message* packet_beginning);

  Graph& graph_;
  std::size_t stream_;
  const EarlierPackets& earlier_;
  Messages messages_;
  Step step_;
  // A loss that is reported later. babeltrace reports discarded events before the packet whose header counts them. But
  // the tracer discarded them when that packet was full and the next one was not yet free. So the cursor reports the
  // loss after the last event of that packet.
  std::optional<Step> held_loss_;
  std::optional<Step> early_loss_;         // packets before the first one; reported when the CPU is known
  std::optional<std::string> damage_;      // damage at the stream's end
  const bt_stream* stream_ref_ = nullptr;  // owned by the graph's component
  std::optional<unsigned> cpu_;
  std::uint64_t last_ns_ = 0;
  bool begun_ = false, ended_ = false;
  bool is_early_ = false;  // step_ is the loss before the first packet
};

// Adds a finding with the name of the step's event.
void report(Imperfection kind, const Step& step, unsigned cpu, Findings& findings);

class CpuEvents {
 public:
  explicit CpuEvents(RecordBuilder& records) : records_(records) {}
  // Adds a stream, whose cursor must be at its first step.
  void add(std::unique_ptr<StreamCursor> stream) { streams_.push_back(std::move(stream)); }

  // Returns the next step, or null at the end. The step is valid until the next call.
  const Step* next();
  // Returns the record of the event from next(), or null if the event class has no description. Call this once per
  // event.
  const EventRecord* record();

 private:
  RecordBuilder& records_;
  std::vector<std::unique_ptr<StreamCursor>> streams_;
  StreamCursor* current_ = nullptr;
  std::int32_t task_ = kUnknownTask;
  std::uint8_t context_ = 0;
};

}  // namespace kmt::ctf
