// SPDX-License-Identifier: GPL-2.0-or-later
// Turns events of a CTF trace into ring-buffer records, so that their readers and writers serve CTF too. Each event
// class gets a format description: the kernel's own if the trace has it.
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

// The IDs of a task and its process.
struct TaskOfProcess {
  std::int32_t tid = 0;
  std::int32_t process = 0;
};

// An event's record, and facts that are not in its fields. Valid until the next event.
struct EventRecord {
  Bytes record;
  Bytes stack, user_stack;                   // separate records that follow; empty: the event has none
  bool tells_flags = false;                  // its flags override those from interrupts seen before
  bool is_cut_off = false;                   // a string, an array or the stack was too long
  std::int32_t tid = 0;                      // its task's
  std::optional<std::int32_t> next_tid;      // sched_switch: the task that runs next
  std::uint8_t begins = 0, ends = 0;         // context bits that start and end with this event
  std::string_view task_name;                // its task's; may be empty
  std::optional<TaskOfProcess> task, other;  // its own, and one in its fields
};

class RecordBuilder {
 public:
  // `known`: descriptions in the trace. Records have the given byte order.
  RecordBuilder(std::vector<FormatText> known, ByteOrder order, Findings& findings);

  // Call it once, with all event classes of a trace.
  void add(const bt_trace_class* traces);
  // Call it after the last add(). Classes that cannot be described become findings.
  void finish(Findings& findings);

  const std::vector<FormatText>& texts() const { return texts_; }
  const std::vector<EventFormat>& formats() const { return formats_; }
  unsigned long_bytes() const { return long_bytes_; }  // 4 or 8: of the addresses in memory events

  // Null if its class could not be described. The given task and flags are used if the event has none. A record longer
  // than a page of a ring buffer is cut off.
  const EventRecord* record_of(const bt_event* event, std::int32_t tid, std::uint8_t flags);

 private:
  struct Field {
    Leaf leaf;
    FormatField target;
    bool takes_rest = false;  // an array that may be longer than described
  };
  struct Plan {
    unsigned id = 0;
    std::size_t bytes = 0;  // of the fixed part
    std::vector<Field> fields;
    std::optional<Leaf> stack, user_stack;
    std::optional<FormatField> flags, task;  // common ones
    bool tells_task = false, tells_flags = false;
    std::optional<FormatField> previous_tid, next_tid, process, name, other_tid, other_process;
    std::uint8_t begins = 0, ends = 0;
  };
  // The records of all kernel stacks, or of all users'.
  struct Stacks {
    bool any = false;
    std::optional<unsigned> id;       // of their format
    std::optional<FormatField> head;  // the size, or a user stack's process
    std::optional<FormatField> callers;
    std::vector<std::uint8_t> record;  // the latest one
  };
  struct EventClass {
    unsigned id = 0;  // of its format
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
  std::vector<FormatText> texts_;     // known ones first
  std::vector<EventFormat> formats_;  // those that can be parsed
  std::size_t known_texts_ = 0;
  std::unordered_map<std::string, unsigned> known_ids_;  // by LTTng's name
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
