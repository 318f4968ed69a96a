// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that is true of a whole trace. A source fills the machine's part when it is opened; the tables, the
// lost events and the findings grow while its events are read and are complete after the last batch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/endian.hpp"
#include "trace/calls/types.hpp"
#include "trace/code/address_spaces.hpp"
#include "trace/code/module_loads.hpp"
#include "trace/code/user_code.hpp"
#include "trace/event.hpp"
#include "trace/gfp_flags.hpp"
#include "trace/imperfections.hpp"
#include "trace/stack_table.hpp"
#include "trace/state/sample.hpp"
#include "trace/tasks/lives.hpp"
#include "trace/tasks/name_history.hpp"

namespace kmt {

class CallRecords;

struct EventType {
  std::string system;  // "kmem"
  std::string name;    // "kmalloc"
  EventKind kind = EventKind::other;
};

// A stretch in which events of one CPU were lost.
struct LostEvents {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;        // empty: the kernel did not say how many
  std::uint64_t before_ns = 0;               // the last event read before the stretch; 0: none
  std::uint64_t after_ns = 0;                // the first time known after it
  std::optional<std::uint64_t> offset = {};  // of the page that says so
};

// The kernel's own account of one CPU's ring buffer when recording stopped (per_cpu/cpuN/stats).
struct BufferStatistics {
  unsigned cpu = 0;
  std::uint64_t entries = 0;         // still unread
  std::uint64_t overrun = 0;         // overwritten, oldest first, or newer than what fills a BPF program's ring
  std::uint64_t commit_overrun = 0;  // refused: nested deeper than the buffer's size
  std::uint64_t dropped = 0;         // refused: full, overwriting off
  std::uint64_t read = 0;
  std::uint64_t not_recorded = 0;  // unread when the recorder had to give up
  std::uint64_t counted_ns = 0;    // when all that was counted, on the trace's clock; 0: not told
};

// What Event::address of a page event identifies.
enum class PageIdentity : std::uint8_t {
  frame,        // page frame numbers: neighbours are known
  struct_page,  // addresses of struct page (before Linux 4.1): whole allocations only
};

struct TraceInfo {
  std::string path;
  std::string format;  // "trace.dat version 7"
  std::string kernel;  // release, "6.1.0-47-amd64"; empty when the trace does not say
  std::string arch;    // as uname -m
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 64;                  // of the kernel
  std::uint64_t page_size = 0;              // bytes
  std::optional<unsigned> pageblock_order;  // 2^it pages have a migrate type together; empty: the trace does not say
  unsigned cpus = 0;                        // of the machine
  std::vector<std::int16_t> cpu_nodes;      // NUMA node of each CPU; empty when the trace does not say
  std::string clock;                        // "local", "mono", …
  bool clock_in_ns = true;                  // false: its ticks are something else, and times and durations are in them
  std::vector<std::string> buffers;         // that are read; "" is the top one
  PageIdentity page_identity = PageIdentity::frame;
  std::string kallsyms;                                          // text of /proc/kallsyms, may be empty
  std::unordered_map<std::int32_t, std::string> comms;           // last name of each task
  TaskNameHistory task_names;                                    // where events tell them
  std::unordered_map<std::int32_t, std::int32_t> thread_groups;  // of tasks, by their ids: ask thread_group()
  TaskLives lives;                                               // where events tell them: ask processes.hpp
  ModuleEvents module_events;                                    // likewise
  std::vector<ModuleChange> module_changes;                      // by time, as who recorded noticed them
  std::vector<BufferStatistics> buffer_statistics;
  std::map<std::string, std::string> notes;  // of the machine and the recording: docs/formats/kmt.md
  std::vector<StateSample> samples;          // by time
  CallTypes call_types;                      // of calls whose arguments were recorded
  bool calls_are_blank = false;              // what they were given and returned was taken out of the trace

  std::vector<EventType> event_types;
  std::vector<std::uint64_t> call_sites = {0};  // addresses
  std::vector<std::string> cache_names = {""};
  StackTable stacks;
  UserCode user_code;                         // of the users' part of stacks
  AddressSpaces address_spaces;               // where it lay
  std::shared_ptr<CallRecords> call_records;  // null: OpenOptions did not ask for them
  std::vector<FlagName> gfp_flags;            // of this kernel, in the order in which it prints them; empty: not told

  std::vector<LostEvents> lost;
  std::uint64_t lost_somewhere = 0;  // events of which neither CPU nor time is known
  Findings findings;
};

// What a task is called at a time: as events tell, else its last name; "<idle>" and, where nothing is known, "<...>".
std::string_view task_name(const TraceInfo& info, std::int32_t tid, std::uint64_t time_ns);
// Whether events later in the trace may tell what a task was called before them: then all names are known only when all
// has been read.
bool may_tell_earlier_names(const TraceInfo& info);

// The process that a task belongs to (its tgid); empty: the trace does not tell. The kernel uses ids again: of what is
// known at different times the latest counts, for the whole trace.
std::optional<std::int32_t> thread_group(const TraceInfo& info, std::int32_t tid);

// Lost events by CPU: what the pages' marks and the kernel's statistics tell. Both tell of the same loss and either may
// know more than the other, so the larger counts. A mark without a count is worth one event at least.
std::vector<std::uint64_t> lost_events_per_cpu(const TraceInfo& info);
std::uint64_t total_lost_events(const TraceInfo& info);  // those of no known CPU too

}  // namespace kmt
