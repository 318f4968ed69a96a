// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/json/classes.hpp"

#include <new>

#include "formats/ctf/field_classes.hpp"

namespace kmt::ctf {

namespace {

using TraceClassRef = std::unique_ptr<bt_trace_class, PutObject<bt_trace_class, bt_trace_class_put_ref>>;
using StreamClassRef = std::unique_ptr<bt_stream_class, PutObject<bt_stream_class, bt_stream_class_put_ref>>;
using EventClassRef = std::unique_ptr<bt_event_class, PutObject<bt_event_class, bt_event_class_put_ref>>;
using ClockClassRef = std::unique_ptr<bt_clock_class, PutObject<bt_clock_class, bt_clock_class_put_ref>>;

// Throws if a setter of libbabeltrace2 failed. Setters fail only if memory is exhausted, and return status 0 on
// success.
template <typename Status>
void check(Status status) {
  if (static_cast<int>(status) != 0) throw std::bad_alloc();
}

template <typename Ref>
Ref owned(typename Ref::pointer object) {
  if (object == nullptr) throw std::bad_alloc();
  return Ref(object);
}

ClockClassRef make_clock(const JsonClock& clock, bt_self_component* component) {
  auto made = owned<ClockClassRef>(bt_clock_class_create(component));
  bt_clock_class_set_frequency(made.get(), clock.frequency);
  bt_clock_class_set_offset(made.get(), clock.offset_seconds, clock.offset_cycles);
  bt_clock_class_set_precision(made.get(), clock.precision);
  bt_clock_class_set_origin_is_unix_epoch(made.get(), clock.is_unix_epoch ? BT_TRUE : BT_FALSE);
  if (!clock.name.empty()) check(bt_clock_class_set_name(made.get(), clock.name.c_str()));
  if (!clock.description.empty()) check(bt_clock_class_set_description(made.get(), clock.description.c_str()));
  return made;
}

bt_event_class* make_event(bt_trace_class* trace, bt_stream_class* stream, std::uint64_t id,
                           const JsonEventClass& event) {
  const auto made = owned<EventClassRef>(bt_event_class_create_with_id(stream, id));
  check(bt_event_class_set_name(made.get(), event.name.empty() ? "unnamed" : event.name.c_str()));
  if (event.payload)
    check(bt_event_class_set_payload_field_class(made.get(), make_field_class(trace, *event.payload).get()));
  if (event.specific_context)
    check(bt_event_class_set_specific_context_field_class(made.get(),
                                                          make_field_class(trace, *event.specific_context).get()));
  bt_event_class* const borrowed = made.get();  // the stream class also holds a reference
  return borrowed;
}

StreamClassObjects make_stream(bt_trace_class* trace, std::uint64_t id, const JsonStreamClass& stream,
                               bt_self_component* component) {
  const auto made = owned<StreamClassRef>(bt_stream_class_create_with_id(trace, id));
  StreamClassObjects objects{&stream, made.get()};
  objects.has_begin_time = has_role(stream.packet_context.get(), FieldRole::kTime);
  objects.has_end_time = has_role(stream.packet_context.get(), FieldRole::kEndTime);
  const bool has_times = objects.has_begin_time && objects.has_end_time;
  const auto flag = [](bool value) { return value ? BT_TRUE : BT_FALSE; };
  bt_stream_class_set_assigns_automatic_event_class_id(made.get(), BT_FALSE);
  if (stream.clock)
    check(bt_stream_class_set_default_clock_class(made.get(), make_clock(*stream.clock, component).get()));
  bt_stream_class_set_supports_packets(made.get(), BT_TRUE, flag(objects.has_begin_time), flag(objects.has_end_time));
  if (has_role(stream.packet_context.get(), FieldRole::kDiscarded))
    bt_stream_class_set_supports_discarded_events(made.get(), BT_TRUE, flag(has_times));
  if (has_role(stream.packet_context.get(), FieldRole::kSequence))
    bt_stream_class_set_supports_discarded_packets(made.get(), BT_TRUE, flag(has_times));
  if (stream.packet_context)
    check(bt_stream_class_set_packet_context_field_class(made.get(),
                                                         make_field_class(trace, *stream.packet_context).get()));
  if (stream.common_context)
    check(bt_stream_class_set_event_common_context_field_class(made.get(),
                                                               make_field_class(trace, *stream.common_context).get()));
  for (const auto& [event_id, event] : stream.events)
    objects.events[event_id] = make_event(trace, made.get(), event_id, event);
  return objects;
}

}  // namespace

TraceObjects make_trace(const JsonMetadata& metadata, bt_self_component* component) {
  const auto trace_class = owned<TraceClassRef>(bt_trace_class_create(component));
  bt_trace_class_set_assigns_automatic_stream_class_id(trace_class.get(), BT_FALSE);
  TraceObjects objects;
  for (const auto& [id, stream] : metadata.streams)
    objects.streams.emplace(id, make_stream(trace_class.get(), id, stream, component));
  objects.trace = owned<TraceRef>(bt_trace_create(trace_class.get()));
  if (metadata.uuid) bt_trace_set_uuid(objects.trace.get(), metadata.uuid->data());
  for (const auto& [name, value] : metadata.environment) {
    if (const auto* const text = std::get_if<std::string>(&value))
      check(bt_trace_set_environment_entry_string(objects.trace.get(), name.c_str(), text->c_str()));
    else
      check(bt_trace_set_environment_entry_integer(objects.trace.get(), name.c_str(), std::get<std::int64_t>(value)));
  }
  return objects;
}

}  // namespace kmt::ctf
