// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes a ring-buffer record into an Event. Field offsets come once per trace from its own format descriptions;
// decoding then is a table look-up by ID and a few bounded loads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/flat_map.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/life_events.hpp"
#include "formats/ftrace/probed_values.hpp"
#include "formats/ftrace/task_creation.hpp"
#include "formats/ftrace/task_naming.hpp"
#include "formats/user_stacks.hpp"
#include "trace/stack_ids.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Gives dense IDs to repeated values and appends new ones to the trace's tables. Values already there keep their ID.
class CallSiteTable {
 public:
  explicit CallSiteTable(std::vector<std::uint64_t>& addresses);
  CallSiteId id_of(std::uint64_t address);

 private:
  std::vector<std::uint64_t>& addresses_;
  FlatMap<std::uint32_t> ids_;
};

class CacheNameTable {
 public:
  explicit CacheNameTable(std::vector<std::string>& names);
  CacheId id_of(std::string_view text);  // the name ends at a NUL

 private:
  // A text of 4 to 24 bytes as overlapping words, for comparison without a search for its end.
  struct Text {
    std::array<std::uint64_t, 3> words = {};
    std::size_t bytes = 0;
    bool operator==(const Text&) const = default;
  };
  struct Known {
    Text text;
    CacheId id;
  };

  static Text words_of(std::string_view text);
  CacheId look_up(std::string_view name);

  std::vector<std::string>& names_;
  FlatMap<std::uint32_t> ids_;      // by hash; on collision a name takes the next free key
  std::array<Known, 64> recent_{};  // by some of the text's bits
};

// True if a frame number means "no page": -1UL of the traced kernel's word.
constexpr bool is_no_page(std::uint64_t frame, unsigned word_bytes) {
  return frame == (word_bytes == 4 ? 0xFFFFFFFFu : kNoPage);
}

// Returns the kind of an event by name; `other` if it is not interpreted.
EventKind event_kind(std::string_view system, std::string_view name);

class RecordDecoder {
 public:
  // Fills info.tables.event_types, info.recording.page_identity and constants of print formats (pageblock_order,
  // gfp_flags). IDs and findings go into the info, which must outlive the decoder.
  RecordDecoder(const std::vector<EventFormat>& formats, ByteOrder order, TraceInfo& info);

  // True if records that differ only in time, task and address also decode alike except for these.
  bool is_decoded_by_shape(Bytes record) const;

  // Owns the user stacks of decoded records.
  UserStacks& user_stacks() { return user_stacks_; }

  // Appends the record's event to the batch; an undecodable record becomes a finding at `file_offset`.
  void decode(Bytes record, std::uint64_t time_ns, unsigned cpu, std::uint64_t file_offset, EventBatch& batch);

  // Drops probed values that await their call: unreadable records may have had the call.
  void forget_values(unsigned cpu) { pending_values_.erase(cpu); }

 private:
  struct Field {
    std::uint16_t offset = 0;
    std::uint8_t size = 0;  // 0: the event has no such field
  };
  // The offsets of one event type's fields.
  struct Plan {
    bool described = false;
    EventKind kind = EventKind::other;
    EventTypeId type;
    std::uint32_t least_bytes = 0;  // all fields below lie within
    Field flags, pid;
    Field address;              // ptr, pfn or page, addr or va_start
    std::uint16_t namings = 0;  // index into namings_; 0: it names no task
    bool creates_task = false;  // as task_creation_ describes
    std::uint8_t life = 0;      // index into life_events_; 0: none
    bool is_stack = false;      // ftrace:kernel_stack or user_stack
    bool is_user_stack = false;
    Field process;                 // of a user stack
    std::uint32_t callers = 0;     // offset of its return addresses
    std::uint32_t most_depth = 0;  // and their greatest number
    Field depth;                   // the number of addresses; a call's depth
    Field call_site, bytes_requested, bytes_allocated, gfp_flags, node, cache_name, failed;
    Field began, ended, return_value;  // of a call
    std::uint32_t arguments = 0;       // offset of the registers of a call's entry
    std::uint32_t most_arguments = 0;  // and their greatest number
    Field values;                      // values read from memory
    std::uint16_t probed_values = 0;   // or an index into probed_values_; 0: none
    bool is_values = false;            // kmemtrace:probe_values_N, which precedes its call
    Field frame;                       // the stack pointer
    Field order, migrate_type, percpu_refill, fallback_order, fallback_migrate_type, change_ownership;
  };

  static Plan compile(const EventFormat& format, EventTypeId type, unsigned word_bytes, PageIdentity& page_identity);
  void decode_page(const Plan& plan, Bytes record, Event& event) const;
  void decode_call(const Plan& plan, Bytes record, Event& event);
  Bytes values_of(const Plan& plan, Bytes record) const;
  // The values of a CPU's latest probe_values_N, until the call begins.
  struct PendingValues {
    const Plan* plan = nullptr;
    std::vector<std::uint8_t> record;
  };
  struct PendingCall {
    std::vector<PendingValues> values;
    std::size_t losses = 0;  // number of losses at the first value
  };
  // True if the records belong to one call.
  bool is_same_call(const PendingValues& values, const Plan& plan, Bytes record) const;
  void keep_values(const Plan& plan, Bytes record, unsigned cpu);
  void take_values(const Plan& entry, Bytes record, unsigned cpu, std::span<const std::uint64_t> registers,
                   ReadValues& to);
  std::uint64_t keep_call_record(const Plan& plan, Bytes record, unsigned cpu);
  void decode_stack(const Plan& plan, Bytes record, Event& event);
  std::uint64_t load_field(Bytes record, Field field) const;
  void report_undecodable(const Plan* plan, unsigned id, Bytes record, std::uint64_t time_ns, unsigned cpu,
                          std::uint64_t file_offset);

  ByteOrder order_;
  TraceInfo& info_;
  std::vector<Plan> plans_;                                     // by event id
  std::vector<std::vector<TaskNaming>> namings_ = {{}};         // of events that name tasks
  std::vector<std::vector<ProbedValue>> probed_values_ = {{}};  // of calls from kprobe events
  std::unordered_map<unsigned, PendingCall> pending_values_;    // by CPU
  TaskCreation task_creation_;
  std::vector<LifeEvent> life_events_ = {{}};
  ThreadGroups thread_groups_;
  CallSiteTable call_sites_;
  CacheNameTable cache_names_;
  StackIds stacks_;
  UserStacks user_stacks_;
};

}  // namespace kmt
