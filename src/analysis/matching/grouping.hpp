// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the group of `report --by` to which an allocation belongs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/matching/cache_names.hpp"
#include "analysis/matching/charging.hpp"
#include "analysis/matching/page_use.hpp"
#include "analysis/matching/recent_origins.hpp"
#include "analysis/matching/slab_account.hpp"
#include "analysis/matching/syscalls.hpp"
#include "analysis/matching/task_rows.hpp"
#include "base/intern_table.hpp"
#include "results/group.hpp"
#include "trace/code/code_owner.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/info/memory_nodes.hpp"
#include "trace/tasks/processes.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Properties shared by allocations that a report does not distinguish. A live object stores only the number of its
// origin, so more keys in a report do not need more memory per object.
struct Origin {
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint32_t group = 0;
  std::uint32_t cache = 0;  // the CacheId of the event
  CallSiteId call_site;
  Allocator allocator = Allocator::slab;
  std::uint8_t order = 0;                            // only for pages
  std::int8_t migrate_type = 0;                      // only for pages
  bool from_cache = false;                           // true: allocated by kmem_cache_alloc; false: by kmalloc
  SlabAccount account = SlabAccount::unreclaimable;  // only for slab objects
  PageUse page_use = PageUse::unknown;  // use of pages and vmalloc areas; requires GroupingOptions::page_uses
  // Number of the process; 0: unknown. Requires GroupingOptions::processes. Grouping::process_name() returns the name.
  std::uint32_t process = 0;
};

// Returns the name of a call site, such as "__d_alloc+0x29"; empty if the event has no call site.
std::string name_of_site(CallSiteId site, const TraceInfo& info, const SymbolNames& symbols);
// Returns the address and name of kernel code; the name is "unknown" if the event has no address.
CodeAddress code_address(std::uint64_t address, const SymbolNames& symbols);
// Returns the address and name of a user-space frame, which is an index into TraceCode::user.
CodeAddress user_code_address(std::uint64_t frame, const TraceInfo& info, const SymbolNames& symbols);

// Returns the index of the first frame that is outside the allocators and their wrappers.
using FindCaller = std::function<std::size_t(std::span<const std::uint64_t>)>;

struct GroupingOptions {
  // True: memory of a child process counts for its nearest ancestor that was alive when the trace began
  // (GroupKey::process).
  bool tree = false;
  bool with_interrupted = false;  // true: allocations by interrupts count for the interrupted task
  bool page_uses = false;         // true: determine the use of pages from stacks and GFP flags
  bool processes = false;         // true: allocations of different processes have different origins
  // True: group vmalloc areas by process if no key applies to them. Without stacks, vmalloc areas differ only in the
  // process.
  bool areas_by_process = false;
  // True: code of an unknown module, subsystem or directory is grouped by its function.
  bool names_unknown_owners = false;
};

class Grouping {
 public:
  // All arguments must outlive this object. `tasks` also contains names of tasks that may not be in `info` yet. Without
  // `find_caller`, the innermost frame is the caller.
  Grouping(std::vector<GroupKey> by, const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols,
           CacheNames& caches, FindCaller find_caller, GroupingOptions options = {});

  // Call this function before each batch of events, if the trace's data does not change during a batch. It saves time
  // for most events. Returns false if events may have other origins than equal events in earlier batches.
  bool begin_batch();
  PageUse page_use_of(const Event& event);  // `event` is an allocation of pages or of a vmalloc area
  // Learns from an event. Call this for each event of the trace, in order of time, before origin_of().
  void see(const Event& event) {
    if (by_container_ && event.kind == EventKind::cache_alloc && makes_pid_space(event.call_site))
      pid_spaces_.made(event.tid, event.time_ns);
    if (by_syscall_ && (is_syscall(event.kind) || event.kind == EventKind::other)) syscalls_.see(event);
  }

  // True if see() has an effect.
  bool learns_from_events() const { return by_container_ || by_syscall_; }

  // Returns the number of an allocation's origin. Numbers start with 1; 0 means "none".
  std::uint32_t origin_of(const Event& event);
  // True if the origin of an event depends only on its CallShape, on its CPU if by_cpu() is true, and on the rows of
  // its task for task_keys().
  bool repeats() const { return repeats_; }
  bool by_cpu() const { return by_cpu_; }
  const std::vector<GroupKey>& task_keys() const { return task_keys_; }
  std::uint32_t task_row(GroupKey key, const Event& event) { return tasks_.row_of(key, event); }
  // True if two events with equal rows in one grouping also have equal rows in the other.
  bool has_rows_like(const Grouping& other) const {
    return options_.tree == other.options_.tree && options_.with_interrupted == other.options_.with_interrupted &&
           &trace_tasks_ == &other.trace_tasks_;
  }
  // Returns the origins that were added since the last call, in order of their numbers.
  std::vector<Origin> take_new_origins() { return std::exchange(new_origins_, {}); }

  // Returns a number for the values of those keys that describe a free event, such as free-site. Numbers start with 1.
  std::uint32_t freer_of(const Event& free);
  bool by_freer() const { return by_freer_; }

  const std::vector<GroupKey>& by() const { return by_; }
  std::size_t groups() const { return groups_.size(); }
  Allocator allocator_of_group(std::uint32_t group) const { return static_cast<Allocator>(groups_[group].allocator); }
  // True if a report can have more than one group for this allocator.
  bool has_groups(Allocator allocator) const;
  const TaskName& process_name(const Origin& origin) const { return tasks_[origin.process - 1]; }
  // True if the memory was allocated by a tracing tool. False if the process is unknown.
  bool is_of_tracing_tool(const Origin& origin) const;
  // Returns the values of all keys of the report. A key that is only known when an allocation is freed has the value
  // NotFreed.
  std::vector<KeyValue> values_of(std::uint32_t group, const SymbolNames& symbols) const;
  // Replaces the values of the keys that describe the free. `freer` is a result of freer_of().
  void set_freer(std::uint32_t freer, const SymbolNames& symbols, std::vector<KeyValue>& values) const;

 private:
  // The page of `report --html` has one key more than users can choose. InternTable needs an even number.
  using Values = std::array<std::uint32_t, kMostGroupKeys + 2>;
  struct Group {
    Values values;
    std::uint32_t allocator;
    std::uint32_t process = 0;  // a number like Origin::process; only with GroupingOptions::areas_by_process
  };
  struct OriginKey {
    Group group;
    std::uint64_t bytes_requested;
    std::uint64_t bytes_allocated;
    std::uint32_t call_site;
    std::uint32_t cache_and_family;
    std::uint64_t process;  // a number like Origin::process
  };

  // Maximum number of origins that have a process. Later origins have no process. This limits memory use if many
  // short-lived processes allocate.
  static constexpr std::size_t kMostOriginsOfProcesses = std::size_t{1} << 20;

  std::uint32_t find_origin(const Event& event);
  std::uint32_t cache_and_family(const Event& event) const;
  std::uint32_t value_of(GroupKey key, const Event& event, std::uint64_t bytes_requested,
                         std::uint64_t bytes_allocated);
  bool makes_pid_space(CallSiteId site);
  bool is_by_process(Allocator allocator) const;
  SlabAccount account_of(const Event& event);
  PageUse use_by_stack_or_flags(const Event& event);
  std::uint32_t text_id(std::string text);
  std::uint32_t owner_id(CodeOwner owner);
  CodeOwner owner_or_function(CodeOwner owner, const std::string& symbol) const;
  std::uint32_t stack_of(const Event& event);
  std::uint32_t code_of(CallSiteId site);
  std::uint32_t caller_of(const Event& event);
  std::uint32_t function_row(const Event& event);
  std::uint32_t owner_row(GroupKey key, const Event& event);
  std::uint32_t user_code_of(const Event& event, bool object);
  KeyValue describe(GroupKey key, std::uint32_t value, const SymbolNames& symbols) const;

  std::vector<GroupKey> by_;
  const TraceInfo& info_;
  const TraceTasks& trace_tasks_;
  const SymbolNames& symbols_;
  CacheNames& caches_;
  FindCaller find_caller_;
  GroupingOptions options_;
  bool by_syscall_;
  bool by_container_;
  bool by_freer_;
  int reclaimable_;  // number of the migrate type Reclaimable
  Charging charging_;
  Syscalls syscalls_;
  MadePidSpaces pid_spaces_;
  enum class Makes : std::uint8_t { not_known, nothing, pid_space };
  std::vector<Makes> makes_;  // index: call site
  bool by_cpu_;
  bool repeats_;
  TaskRows tasks_;
  std::vector<GroupKey> task_keys_;  // the keys whose values are rows of tasks_
  bool in_batches_ = false;          // true: begin_batch() was called
  std::size_t known_flags_ = 0;      // number of GFP flags that the trace has named
  RecentOrigins recent_;
  InternTable<Group> groups_;
  InternTable<Values> freers_;
  InternTable<OriginKey> origins_;
  std::vector<Origin> new_origins_;

  // Tables of values that do not fit into 32 bits. A group stores the IDs of such values.
  InternTable<std::uint64_t> numbers_;
  std::map<std::string, std::uint32_t, std::less<>> text_ids_;
  std::vector<std::string> texts_;
  struct KnownCode {
    std::uint32_t object = 0;  // 0: not computed yet, else 1 + index in texts_
    std::uint32_t function = 0;
  };
  std::vector<KnownCode> code_of_stack_;   // index: stack; value: ID of the code of the innermost frame in user space
  std::vector<std::uint32_t> same_stack_;  // index: stack; 0: not computed yet, else 1 + ID of the first equal stack
  std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;
  std::vector<std::uint32_t> code_of_site_;     // index: call site; 0: not computed yet, else 1 + ID of the address
  std::vector<std::uint32_t> caller_of_stack_;  // index: stack; values as in code_of_site_
  std::vector<std::uint8_t> use_of_stack_;      // index: stack; 0: not computed yet, else 1 + PageUse
  PageUseFlags page_use_flags_;
  // Index: ID of an address; 0: not computed yet, else 1 + index in texts_.
  std::vector<std::uint32_t> function_of_code_;
  // The owners of the code at an address. 0: not computed yet, else 1 + index in owners_.
  struct KnownOwners {
    std::uint32_t module = 0;
    std::uint32_t directory = 0;
    std::uint32_t subsystem = 0;
  };
  std::vector<KnownOwners> owners_of_code_;  // index: ID of an address
  std::vector<CodeOwner> owners_;            // without duplicates
  std::map<std::pair<std::string, bool>, std::uint32_t> owner_ids_;
  std::optional<SourceDirectories> directories_;
  std::optional<MemoryNodes> memory_nodes_;
};

}  // namespace kmt
