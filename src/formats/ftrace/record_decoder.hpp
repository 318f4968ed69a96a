// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes a ring-buffer record into an Event. Field offsets are computed once per trace from the trace's own format
// descriptions. After that, decoding is a table lookup by ID and a few bounded loads.
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
#include "formats/ftrace/record_plan.hpp"
#include "formats/ftrace/task_creation.hpp"
#include "formats/ftrace/task_naming.hpp"
#include "formats/user_stacks.hpp"
#include "trace/stack_ids.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Assigns consecutive IDs to distinct values, and appends new values to the tables of the trace. Values that are
// already in a table keep their ID.
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
  CacheId id_of(std::string_view text);  // a NUL in the text ends the name

 private:
  // A text of 4 to 24 bytes, stored as words that may overlap. Two such texts can be compared without a loop.
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
  // key: hash of a name, or the next unused number if another name has this hash; value: ID of the name
  FlatMap<std::uint32_t> ids_;
  std::array<Known, 64> recent_{};  // recently used names; some bits of the text are the index
};

class RecordDecoder {
 public:
  // Fills in info.tables.event_types, info.recording.page_identity, and the constants pageblock_order and gfp_flags
  // from print formats. Decoding adds IDs and findings to `info`, which must outlive the decoder.
  RecordDecoder(const std::vector<EventFormat>& formats, ByteOrder order, TraceInfo& info);

  // True if all records with the shape of this record can share one decoded event. Records of one shape, and their
  // events, differ only in time, task and address.
  bool is_decoded_by_shape(Bytes record) const;

  // Returns the user stacks of decoded records.
  UserStacks& user_stacks() { return user_stacks_; }

  // Decodes a record and appends its event to the batch. If this fails, adds a finding with `file_offset`.
  void decode(Bytes record, std::uint64_t time_ns, unsigned cpu, std::uint64_t file_offset, EventBatch& batch);

  // Drops probed values that wait for the event of their call. Call this after unreadable records, because they may
  // have included that event.
  void forget_values(unsigned cpu) { pending_values_.erase(cpu); }

 private:
  using Field = RecordField;
  using Plan = RecordPlan;

  void decode_page(const Plan& plan, Bytes record, Event& event) const;
  void decode_stall(const Plan& plan, Bytes record, Event& event) const;
  void mark_repeated_free(OldPageFree type, Event& event);
  CacheId cache_of(const Plan& plan, Bytes record);
  void decode_probed_free(const Plan& plan, Bytes record, EventBatch& batch);
  void decode_listed_pages(const Plan& plan, Bytes record, EventBatch& batch);
  void decode_page_range(const Plan& plan, Bytes record, EventBatch& batch);
  void decode_objects(const Plan& plan, Bytes record, EventBatch& batch);
  void decode_call(const Plan& plan, Bytes record, Event& event);
  Bytes values_of(const Plan& plan, Bytes record) const;
  // Records of probe_values_N events on a CPU, which wait for the event of the call to which they belong.
  struct PendingValues {
    const Plan* plan = nullptr;
    std::vector<std::uint8_t> record;
  };
  struct PendingCall {
    std::vector<PendingValues> values;
    std::size_t losses = 0;  // number of known losses when the first of the values was read
  };
  // True if the values and the record are from the same call.
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
  std::vector<Plan> plans_;                              // by event ID
  std::vector<std::vector<TaskNaming>> namings_ = {{}};  // for events that name tasks; see RecordPlan::namings
  // For calls that kprobe events recorded; see RecordPlan::probed_values.
  std::vector<std::vector<ProbedValue>> probed_values_ = {{}};
  std::unordered_map<unsigned, PendingCall> pending_values_;  // by CPU
  struct FreedPage {
    OldPageFree type = OldPageFree::no;
    std::uint64_t address = 0;
    std::uint64_t time_ns = 0;
    std::int32_t tid = 0;
  };
  // By CPU and context: the last free that a later event may report again.
  std::unordered_map<unsigned, FreedPage> freed_pages_;
  TaskCreation task_creation_;
  std::vector<LifeEvent> life_events_ = {{}};
  ThreadGroups thread_groups_;
  CallSiteTable call_sites_;
  CacheNameTable cache_names_;
  StackIds stacks_;
  UserStacks user_stacks_;
};

}  // namespace kmt
