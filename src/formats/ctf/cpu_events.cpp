// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/cpu_events.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ctf/metadata_checks.hpp"

namespace kmt::ctf {

namespace {

// Returns the time in nanoseconds since 1970, and 0 for times before 1970, which only a damaged clock has.
std::optional<std::uint64_t> ns_of(const bt_clock_snapshot* snapshot) {
  std::int64_t ns = 0;
  if (snapshot == nullptr ||
      bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) != BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
    bt_current_thread_clear_error();
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
}

std::string lost_packets_text(std::uint64_t count) {
  return fmt::format("{} packets with an unknown number of events", count);
}

// False if the counter of discarded events went down. libbabeltrace2 does not check this, and reports a huge loss.
bool is_possible_difference(std::uint64_t count) { return count < std::uint64_t{1} << 31; }

bool has_clock(const bt_stream* stream) {
  return bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream)) != nullptr;
}

}  // namespace

bool StreamCursor::advance() {
  while (!ended_) {
    while (const bt_message* const message = messages_.next())
      if (take(message)) return true;
    try {
      ended_ = !graph_.read(stream_, messages_);
    } catch (const Error& error) {
      ended_ = true;
      damage_ = error.what();
    }
  }
  return give(held_loss_) || give_damage();
}

bool StreamCursor::give(std::optional<Step>& held) {
  if (!held) return false;
  step_ = std::move(*held);
  held.reset();
  return true;
}

bool StreamCursor::give_damage() {
  if (!damage_) return false;
  step_ = {Step::Kind::damage, last_ns_, nullptr, {}, std::move(*damage_)};
  damage_.reset();
  return true;
}

// Handles a message. Returns true if the message became a step.
bool StreamCursor::take(const bt_message* message) {
  switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_STREAM_BEGINNING:
      stream_ref_ = bt_message_stream_beginning_borrow_stream_const(message);
      return false;
    case BT_MESSAGE_TYPE_PACKET_BEGINNING:
      if (begun_) return false;
      begin_stream(message);
      is_early_ = give(early_loss_);
      return is_early_;
    case BT_MESSAGE_TYPE_EVENT: {
      const bt_clock_snapshot* const snapshot =
          has_clock(stream_ref_) ? bt_message_event_borrow_default_clock_snapshot_const(message) : nullptr;
      last_ns_ = ns_of(snapshot).value_or(last_ns_);
      step_ = {Step::Kind::event, last_ns_, bt_message_event_borrow_event_const(message)};
      return true;
    }
    case BT_MESSAGE_TYPE_PACKET_END: return give(held_loss_);
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS: hold_discarded(message); return false;
    case BT_MESSAGE_TYPE_DISCARDED_PACKETS: return take_discarded_packets(message);
    default: return false;
  }
}

void StreamCursor::hold_discarded(const bt_message* message) {
  const bt_clock_snapshot* end = nullptr;
  std::uint64_t count = 0;
  std::optional<std::uint64_t> lost;
  if (bt_message_discarded_events_get_count(message, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE &&
      is_possible_difference(count))
    lost = count;
  if (bt_stream_class_discarded_events_have_default_clock_snapshots(bt_stream_borrow_class_const(stream_ref_)) != 0)
    end = bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message);
  held_loss_ = {Step::Kind::loss, ns_of(end).value_or(last_ns_), nullptr, lost, lost_events_text(lost), last_ns_};
}

bool StreamCursor::begin_at(std::uint64_t first_ns) {
  // Time that the tracer needs at most to switch to new packets on all CPUs, for example when it rotates a recording.
  // This is a generous estimate: a switch takes some microseconds for each CPU.
  constexpr std::uint64_t kAtOnceNs = 10'000'000;
  if (!is_early_) return true;
  is_early_ = false;
  step_.since_ns = first_ns;
  return step_.time_ns > first_ns + kAtOnceNs || advance();
}

// Returns true if the loss became a step. A loss before the first packet becomes a step later.
bool StreamCursor::take_discarded_packets(const bt_message* message) {
  const bt_clock_snapshot* end = nullptr;
  std::uint64_t count = 0;
  const bool has_count =
      bt_message_discarded_packets_get_count(message, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE &&
      is_possible_difference(count);
  if (bt_stream_class_discarded_packets_have_default_clock_snapshots(bt_stream_borrow_class_const(stream_ref_)) != 0)
    end = bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message);
  Step loss = {Step::Kind::loss, ns_of(end).value_or(last_ns_), nullptr, {}, "packets", last_ns_};
  if (has_count) loss.detail = lost_packets_text(count);
  if (begun_)
    step_ = std::move(loss);
  else
    early_loss_ = std::move(loss);
  return begun_;
}

void StreamCursor::begin_stream(const bt_message* packet_beginning) {
  begun_ = true;
  const bt_packet* const packet = bt_message_packet_beginning_borrow_packet_const(packet_beginning);
  const bt_stream_class* const stream_class = bt_stream_borrow_class_const(stream_ref_);
  const bt_uuid uuid = bt_trace_get_uuid(bt_stream_borrow_trace_const(stream_ref_));
  const auto earlier = uuid == nullptr
                           ? earlier_.end()
                           : earlier_.find({std::string(reinterpret_cast<const char*>(uuid), kUuidBytes),
                                            bt_stream_class_get_id(stream_class), bt_stream_get_id(stream_ref_)});
  if (earlier != earlier_.end() && earlier->second > 0 && !early_loss_) {
    const bt_clock_snapshot* const begin =
        bt_stream_class_packets_have_beginning_default_clock_snapshot(stream_class) != 0
            ? bt_message_packet_beginning_borrow_default_clock_snapshot_const(packet_beginning)
            : nullptr;
    early_loss_ = {Step::Kind::loss, ns_of(begin).value_or(0), nullptr, {}, lost_packets_text(earlier->second), 0};
  }
  const bt_field* const context = bt_packet_borrow_context_field_const(packet);
  const bt_field* const cpu =
      context != nullptr ? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id") : nullptr;
  if (cpu != nullptr && bt_field_class_type_is(bt_field_get_class_type(cpu), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
    cpu_ = static_cast<unsigned>(std::min<std::uint64_t>(bt_field_integer_unsigned_get_value(cpu), 0xFFFF));
}

void report(Imperfection kind, const Step& step, unsigned cpu, Findings& findings) {
  std::string name;
  if (findings.wants(kind))  // false if the text would not be shown; there may be millions of findings
    if (const char* const given = bt_event_class_get_name(bt_event_borrow_class_const(step.event)))
      name = printable(given);
  findings.add({kind, std::move(name), cpu, {}, step.time_ns});
}

const Step* CpuEvents::next() {
  if (current_ != nullptr && !current_->advance())
    std::erase_if(streams_, [this](const auto& stream) { return stream.get() == current_; });
  current_ = nullptr;
  for (const auto& stream : streams_)
    if (current_ == nullptr || stream->step().time_ns < current_->step().time_ns) current_ = stream.get();
  if (current_ == nullptr) return nullptr;
  // After a loss the running task is unknown, because a task switch may be among the lost events.
  if (current_->step().kind != Step::Kind::event) {
    task_ = kUnknownTask;
    context_ = 0;
  }
  return &current_->step();
}

const EventRecord* CpuEvents::record() {
  const EventRecord* const record = records_.record_of(current_->step().event, task_, context_);
  if (record == nullptr) return nullptr;
  if (record->next_tid) task_ = *record->next_tid;
  context_ = static_cast<std::uint8_t>((context_ | record->begins) & ~record->ends);
  return record;
}

}  // namespace kmt::ctf
