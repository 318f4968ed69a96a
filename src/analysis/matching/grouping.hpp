// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the group of `report --by` that an allocation belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/matching/cache_names.hpp"
#include "analysis/matching/page_use.hpp"
#include "analysis/matching/slab_account.hpp"
#include "analysis/matching/syscalls.hpp"
#include "base/intern_table.hpp"
#include "results/group.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/tasks/processes.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Common properties of allocations that a report does not distinguish. A live object only stores the number of its
// origin, so its memory use does not depend on the keys.
struct Origin {
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint32_t group = 0;
  std::uint32_t cache = 0;  // CacheId in the event
  CallSiteId call_site;
  Allocator allocator = Allocator::slab;
  std::uint8_t order = 0;                            // only for pages
  std::int8_t migrate_type = 0;                      // only for pages
  bool from_cache = false;                           // kmem_cache_alloc
  SlabAccount account = SlabAccount::unreclaimable;  // only for slab objects
  PageUse page_use = PageUse::unknown;               // only with GroupingOptions::page_uses
  std::uint32_t process = 0;  // only with GroupingOptions::processes: for Grouping::process_name(); 0: unknown
};

// Names a kernel address; "unknown" if the kernel does not report the address.
CodeAddress code_address(std::uint64_t address, const SymbolNames& symbols);
// Names a frame of TraceCode::user.
CodeAddress user_code_address(std::uint64_t frame, const TraceInfo& info, const SymbolNames& symbols);

// Returns the index of the first frame that is outside the allocators and their wrappers.
using FindCaller = std::function<std::size_t(std::span<const std::uint64_t>)>;

struct GroupingOptions {
  // GroupKey::process counts a child process for its oldest ancestor that was alive when the trace began.
  bool tree = false;
  bool with_interrupted = false;  // allocations by interrupts count for the interrupted task
  bool page_uses = false;         // find the use of pages from stacks
  bool processes = false;         // each origin belongs to one process
};

class Grouping {
 public:
  // All arguments must outlive this object. `tasks` contains names of tasks that may not be in `info` yet. Without
  // find_caller, every frame counts as a caller.
  Grouping(std::vector<GroupKey> by, const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols,
           CacheNames& caches, FindCaller find_caller, GroupingOptions options = {});

  // Call this for each event of the trace, in order of time, before origin_of().
  void see(const Event& event) {
    if (by_container_ && event.kind == EventKind::cache_alloc && makes_pid_space(event.call_site))
      pid_spaces_.made(event.tid, event.time_ns);
    if (by_syscall_ && (is_syscall(event.kind) || event.kind == EventKind::other)) syscalls_.see(event);
  }

  // Returns the number of an allocation's origin. Numbers start with 1; 0 means "none".
  std::uint32_t origin_of(const Event& event);
  // Returns the origins that were added since the last call, in order of their numbers.
  std::vector<Origin> take_new_origins() { return std::exchange(new_origins_, {}); }

  // Returns the number of the values that a free has for the keys of frees. Numbers start with 1.
  std::uint32_t freer_of(const Event& free);
  bool by_freer() const { return by_freer_; }

  const std::vector<GroupKey>& by() const { return by_; }
  std::size_t groups() const { return groups_.size(); }
  Allocator allocator_of_group(std::uint32_t group) const { return static_cast<Allocator>(groups_[group].allocator); }
  const TaskName& process_name(const Origin& origin) const { return tasks_[origin.process - 1]; }
  // Returns a value for each key. Keys that are known when an allocation is freed have the value NotFreed.
  std::vector<KeyValue> values_of(std::uint32_t group, const SymbolNames& symbols) const;
  // Replaces the values of the keys of frees.
  void set_freer(std::uint32_t freer, const SymbolNames& symbols, std::vector<KeyValue>& values) const;

 private:
  using Values = std::array<std::uint32_t, kMostGroupKeys>;
  struct Group {
    Values values;
    std::uint32_t allocator;
    std::uint32_t unused = 0;
  };
  struct OriginKey {
    Group group;
    std::uint64_t bytes_requested;
    std::uint64_t bytes_allocated;
    std::uint32_t call_site;
    std::uint32_t cache_and_family;
    std::uint64_t process;  // as in Origin
  };

  // Further origins have no process. This bounds memory if many short-lived processes allocate.
  static constexpr std::size_t kMostOriginsOfProcesses = std::size_t{1} << 20;

  static bool is_same_call(const OriginKey& known, const OriginKey& key) {
    return known.bytes_requested == key.bytes_requested && known.bytes_allocated == key.bytes_allocated &&
           known.cache_and_family == key.cache_and_family && known.group.allocator == key.group.allocator &&
           known.call_site == key.call_site;
  }
  std::uint32_t cache_and_family(const Event& event) const;
  std::uint32_t value_of(GroupKey key, const Event& event, std::uint64_t bytes_requested,
                         std::uint64_t bytes_allocated);
  bool makes_pid_space(CallSiteId site);
  SlabAccount account_of(const Event& event);
  PageUse page_use_of(StackId stack);
  std::uint32_t task_of(Process task, const Event& event, bool with_id);
  std::uint32_t process_row(const Event& event);
  Process process_of(const Event& event) const;
  std::uint32_t text_id(std::string text);
  std::uint32_t stack_of(const Event& event);
  std::uint32_t code_of(CallSiteId site);
  std::uint32_t caller_of(const Event& event);
  std::uint32_t function_row(const Event& event);
  std::uint32_t user_code_of(const Event& event, bool object);
  // Returns the name of the interrupt that an allocation counts for; null: it counts for the task.
  const char* interrupt_of(const Event& event);
  bool is_for_task(StackId interrupt);
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
  Syscalls syscalls_;
  MadePidSpaces pid_spaces_;
  enum class Makes : std::uint8_t { not_known, nothing, pid_space };
  std::vector<Makes> makes_;  // by call site
  bool fixed_by_call_;        // all keys depend only on what is_same_call() compares
  InternTable<Group> groups_;
  InternTable<Values> freers_;
  InternTable<OriginKey> origins_;
  std::vector<std::uint32_t> recent_;  // the last origin of each call site
  std::vector<Origin> new_origins_;

  // IDs of values that cannot be stored directly.
  InternTable<std::uint64_t> numbers_;
  std::map<std::tuple<std::string, std::int64_t, const TaskLife*>, std::uint32_t> task_ids_;
  std::map<std::pair<std::int32_t, const TaskLife*>, std::uint32_t> process_ids_;
  std::map<std::string, std::uint32_t, std::less<>> text_ids_;
  std::vector<std::string> texts_;
  std::vector<TaskName> tasks_;
  // Caches the last result for each task and the name used for it. Names can be compared by pointer, since they do not
  // move in the tables.
  struct KnownTask {
    const char* comm;
    const TaskLife* life;
    std::uint32_t value;
  };
  FlatMap<KnownTask> known_tasks_[2];  // [0] without the task's ID, [1] with it
  FlatMap<KnownTask> known_processes_;
  struct KnownCode {
    std::uint32_t object = 0;  // 0: not computed yet, else 1 + number in texts_
    std::uint32_t function = 0;
  };
  std::vector<KnownCode> code_of_stack_;   // innermost frame of the program, by stack
  std::vector<std::uint32_t> same_stack_;  // 0: not computed yet, else 1 + number of the stack
  std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;
  std::vector<std::uint32_t> code_of_site_;     // 0: not computed yet, else 1 + number of the address
  std::vector<std::uint32_t> caller_of_stack_;  // as code_of_site_, by stack
  // By number of the address: 0 if not computed yet, else 1 + number in texts_.
  std::vector<std::uint8_t> use_of_stack_;  // 0: not computed yet, else 1 + PageUse
  std::vector<std::uint8_t> is_for_task_;   // by stack; 0: not computed yet, else 1 + is_for_interrupted_task()
  std::vector<std::uint32_t> function_of_code_;
};

}  // namespace kmt
