// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/json/stream.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt::ctf {

JsonStream::JsonStream(const JsonMetadata& metadata, const StreamFiles& files, const StreamClassObjects* objects,
                       bt_stream* stream, bt_self_message_iterator* iterator)
    : metadata_(metadata),
      files_(files),
      objects_(objects),
      stream_(stream),
      iterator_(iterator),
      decoder_(metadata.slots) {}

JsonStream::~JsonStream() {
  for (const bt_message* const message : ready_) bt_message_put_ref(message);
  if (packet_ != nullptr) drop_packet();
}

void JsonStream::drop_packet() { bt_packet_put_ref(std::exchange(packet_, nullptr)); }

std::uint64_t JsonStream::next(bt_message_array_const messages, std::uint64_t capacity) {
  std::uint64_t count = 0;
  while (count < capacity) {
    if (ready_.empty() && !failure_ && !has_ended_) try {
        advance();
      } catch (const Error&) {
        failure_ = std::current_exception();
      }
    if (ready_.empty()) {
      if (has_ended_ || failure_) break;
      continue;
    }
    messages[count++] = ready_.front();
    ready_.pop_front();
  }
  if (count == 0 && failure_) {
    has_ended_ = true;
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  return count;
}

void JsonStream::give(bt_message* message) {
  if (message == nullptr) throw std::bad_alloc();
  ready_.push_back(message);
}

// Makes the next messages. May make none, for example if it skips a repeated packet.
void JsonStream::advance() {
  if (packet_ != nullptr) {
    if (decoder_.in.left() > 0) return read_event();
    return end_packet();
  }
  if (!has_begun_ && objects_ != nullptr) {
    has_begun_ = true;
    return give(bt_message_stream_beginning_create(iterator_, stream_));
  }
  if (find_data()) return begin_packet();
  has_ended_ = true;
  give(bt_message_stream_end_create(iterator_, stream_));
}

// At the end of a file, goes to the next one. Returns false after the last file.
bool JsonStream::find_data() {
  while (file_ < files_.files.size()) {
    const MappedFile& file = *files_.files[file_].file;
    if (!part_read_) part_read_.emplace(&file, file.bytes());
    if (at_ < file.bytes().size()) return true;
    ++file_;
    at_ = 0;
    part_read_.reset();
  }
  return false;
}

void JsonStream::begin_packet() {
  const Bytes file = files_.files[file_].file->bytes();
  const JsonStreamClass& stream_class = read_packet_header(metadata_, file, at_, decoder_);
  if (objects_ == nullptr || &stream_class != objects_->description)
    throw Error(fmt::format("the packet at offset {:#x} belongs to another stream", at_));
  packet_ = bt_packet_create(stream_);
  if (packet_ == nullptr) throw std::bad_alloc();
  try {
    start_ = read_packet_context(stream_class, file, at_, decoder_, bt_packet_borrow_context_field(packet_));
  } catch (const Error&) {
    drop_packet();
    throw;
  }
  if (!first_sequence_) first_sequence_ = decoder_.roles.sequence;
  if (decoder_.roles.sequence < first_sequence_) {
    drop_packet();
    throw Error(fmt::format("the packet at offset {:#x} has a lower sequence number than the first packet", at_));
  }
  if (is_repeated()) {
    drop_packet();
    at_ += start_.total_bytes;
    return;
  }
  give_losses();
  give(objects_->has_begin_time
           ? bt_message_packet_beginning_create_with_default_clock_snapshot(iterator_, packet_, decoder_.roles.clock)
           : bt_message_packet_beginning_create(iterator_, packet_));
  last_ = {objects_->has_begin_time ? std::optional(decoder_.roles.clock) : std::nullopt, decoder_.roles.end_time,
           decoder_.roles.discarded, decoder_.roles.sequence};
}

// True if the packet was read before. Consecutive snapshots of an LTTng session may contain the same packets.
bool JsonStream::is_repeated() const {
  const RoleValues& roles = decoder_.roles;
  return last_.sequence && roles.sequence && *roles.sequence <= *last_.sequence && last_.begin &&
         roles.clock <= *last_.begin;
}

void JsonStream::end_packet() {
  if (start_.is_cut_off) throw Error(fmt::format("the file ends within the packet at offset {:#x}", at_));
  // The end time of a damaged packet may be before the last event.
  const std::uint64_t end = std::max(decoder_.roles.clock, decoder_.roles.end_time.value_or(0));
  give(objects_->has_end_time ? bt_message_packet_end_create_with_default_clock_snapshot(iterator_, packet_, end)
                              : bt_message_packet_end_create(iterator_, packet_));
  drop_packet();
  at_ += start_.total_bytes;
  part_read_->read_until(at_);
}

// Reports the losses that the packet's counter shows. The counter includes all events that the tracer discarded until
// the end of the packet. In the first packet, the number of new losses is unknown, because there is no earlier value of
// the counter to subtract.
void JsonStream::give_losses() {
  const RoleValues& roles = decoder_.roles;
  const bool has_times = objects_->has_begin_time && objects_->has_end_time;
  give_lost_packets();
  if (!roles.discarded || *roles.discarded == last_.discarded.value_or(0)) return;
  const std::uint64_t begin = last_.end.value_or(roles.clock);
  const std::uint64_t end = std::max(begin, roles.end_time.value_or(roles.clock));
  bt_message* const message =
      has_times ? bt_message_discarded_events_create_with_default_clock_snapshots(iterator_, stream_, begin, end)
                : bt_message_discarded_events_create(iterator_, stream_);
  give(message);
  if (last_.discarded && *roles.discarded > *last_.discarded)
    bt_message_discarded_events_set_count(message, *roles.discarded - *last_.discarded);
}

void JsonStream::give_lost_packets() {
  const RoleValues& roles = decoder_.roles;
  // Packets are numbered from 0. A tracer in overwrite mode overwrites the first ones.
  const std::uint64_t expected = last_.sequence ? *last_.sequence + 1 : 0;
  if (!roles.sequence || *roles.sequence <= expected) return;
  const std::uint64_t begin = last_.end.value_or(0);
  bt_message* const message = objects_->has_begin_time && objects_->has_end_time
                                  ? bt_message_discarded_packets_create_with_default_clock_snapshots(
                                        iterator_, stream_, begin, std::max(begin, roles.clock))
                                  : bt_message_discarded_packets_create(iterator_, stream_);
  give(message);
  bt_message_discarded_packets_set_count(message, *roles.sequence - expected);
}

void JsonStream::read_event() {
  const JsonStreamClass& stream_class = *objects_->description;
  const std::uint64_t begin = decoder_.in.at();
  const std::uint64_t offset = at_ + begin / 8;
  decoder_.begin_event();
  try {
    if (stream_class.event_header) decoder_.read(*stream_class.event_header, nullptr);
    const std::uint64_t id = decoder_.roles.event_class;
    const auto description = stream_class.events.find(id);
    if (description == stream_class.events.end()) throw Error(fmt::format("the event class {} is unknown", id));
    bt_event_class* const event_class = objects_->events.at(id);
    bt_message* const message = stream_class.clock
                                    ? bt_message_event_create_with_packet_and_default_clock_snapshot(
                                          iterator_, event_class, packet_, decoder_.roles.clock)
                                    : bt_message_event_create_with_packet(iterator_, event_class, packet_);
    if (message == nullptr) throw std::bad_alloc();
    const std::unique_ptr<bt_message, PutObject<bt_message, bt_message_put_ref>> held(message);
    bt_event* const event = bt_message_event_borrow_event(message);
    const JsonEventClass& fields = description->second;
    if (stream_class.common_context)
      decoder_.read(*stream_class.common_context, bt_event_borrow_common_context_field(event));
    if (fields.specific_context) decoder_.read(*fields.specific_context, bt_event_borrow_specific_context_field(event));
    if (fields.payload) decoder_.read(*fields.payload, bt_event_borrow_payload_field(event));
    if (decoder_.in.at() == begin) throw Error("the event has no bits");
    bt_message_get_ref(message);
    ready_.push_back(message);
  } catch (const Error& error) {
    throw Error(fmt::format("the event at offset {:#x} cannot be read: {}", offset,
                            start_.is_cut_off ? "the file ends" : error.what()));
  }
}

}  // namespace kmt::ctf
