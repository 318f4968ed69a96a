// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the events of a CTF trace to ring-buffer records, so that the code for such records also works for CTF. Each
// event class gets a format description. If the trace contains the kernel's own description, that one is used.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/endian.hpp"
#include "formats/ctf/event_leaves.hpp"
#include "formats/ftrace/event_format.hpp"

namespace kmt::ctf {

// The ID of a task and the ID of its process.
struct TaskOfProcess {
  std::int32_t tid = 0;
  std::int32_t process = 0;
};

// The record of an event, and facts that the record does not contain. Valid until the next event.
struct EventRecord {
  Bytes record;
  Bytes stack, user_stack;  // records of the event's stacks; empty if the event has no stack
  // True if the event has its own flags, so flags from interrupt events are not needed.
  bool has_flags = false;
  bool is_cut_off = false;                   // true if a string, an array or a stack was too long and was shortened
  std::int32_t tid = 0;                      // the event's task
  std::optional<std::int32_t> next_tid;      // for sched_switch: the task that runs next
  std::uint8_t begins = 0, ends = 0;         // context bits that this event sets and clears
  std::string_view task_name;                // name of the event's task; may be empty
  std::optional<TaskOfProcess> task, other;  // the event's task, and another task named in its fields
};

class RecordBuilder {
 public:
  // `known`: the format descriptions in the trace. Records are written in the given byte order.
  RecordBuilder(std::vector<FormatText> known, ByteOrder order, Findings& findings);

  // Adds the event classes of a trace. Repeated calls for a trace have no effect.
  void add(const bt_trace_class* traces);
  // Parses the descriptions. Classes that cannot be described become findings. Call this once, after the last add().
  void finish(Findings& findings);

  const std::vector<FormatText>& texts() const { return texts_; }
  const std::vector<EventFormat>& formats() const { return formats_; }
  unsigned long_bytes() const { return long_bytes_; }  // 4 or 8: size of the addresses in memory events

  // Returns null if the event's class could not be described. `tid` and `flags` are used if the event does not contain
  // them. A record that is too long for a ring-buffer page is cut off.
  const EventRecord* record_of(const bt_event* event, std::int32_t tid, std::uint8_t flags);

 private:
  struct Field {
    Leaf leaf;
    FormatField target;
    bool takes_rest = false;  // true for an array that may be longer than its format says
  };
  struct Plan {
    unsigned id = 0;
    std::size_t bytes = 0;  // size of the fixed part, in bytes
    std::vector<Field> fields;
    std::optional<Leaf> stack, user_stack;
    std::optional<FormatField> flags, task;  // common fields
    bool has_task = false, has_flags = false;
    std::optional<FormatField> previous_tid, next_tid, process, name, other_tid, other_process;
    std::uint8_t begins = 0, ends = 0;
  };
  // How kernel stacks, or user stacks, are written as records.
  struct Stacks {
    bool any = false;
    std::optional<unsigned> id;       // event ID of the stack format
    std::optional<FormatField> head;  // number of addresses; for user stacks, the process
    std::optional<FormatField> callers;
    std::vector<std::uint8_t> record;  // the latest stack record
  };
  struct EventClass {
    unsigned id = 0;  // event ID of the format
    std::vector<Leaf> leaves;
  };

  void add_class(const bt_event_class* event_class);
  std::optional<unsigned> new_id();
  static Plan plan_of(const EventFormat& format, const std::vector<Leaf>& leaves);
  std::uint64_t fitting(std::uint64_t wanted, std::uint64_t room);
  void put(const Field& field, const bt_field* value);
  void put_place(const FormatField& target, std::size_t bytes);
  void put_number(std::size_t at, unsigned size, std::uint64_t value);
  void put_array(const Field& field, const bt_field* value);
  Bytes stack_of(Stacks& stacks, const bt_field* value, std::optional<std::int32_t> process);
  std::uint64_t number_in(const FormatField& field) const;
  std::string_view text_in(const FormatField& field) const;

  ByteOrder order_;
  std::vector<FormatText> texts_;     // descriptions in the trace come first, then made-up ones
  std::vector<std::string> unread_;   // memory events that lack a required field
  std::vector<EventFormat> formats_;  // formats of those texts_ that can be parsed
  std::size_t known_texts_ = 0;
  std::unordered_map<std::string, unsigned> known_ids_;  // event IDs by LTTng's name
  std::set<unsigned> ids_;
  std::set<const bt_trace_class*> traces_;
  std::unordered_map<const bt_event_class*, EventClass> classes_;
  std::unordered_map<const bt_event_class*, Plan> plans_;
  Stacks kernel_stacks_, user_stacks_;
  unsigned long_bytes_ = 8;

  std::vector<std::uint8_t> bytes_;
  EventRecord result_;
};

}  // namespace kmt::ctf
