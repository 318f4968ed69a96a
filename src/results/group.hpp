// SPDX-License-Identifier: GPL-2.0-or-later
// The keys by which `report --by` groups allocations, and the sums of each group.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/allocation_sums.hpp"
#include "results/report/history.hpp"
#include "results/report/lifetimes.hpp"
#include "results/report/live_count.hpp"
#include "results/report/traffic.hpp"
#include "results/report/window.hpp"
#include "results/task_name.hpp"
#include "trace/code/code_owner.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/event.hpp"

namespace kmt {

enum class GroupKey : std::uint8_t {
  call_site,
  function,
  caller,
  stack,
  dso,
  user_symbol,
  task,
  process,
  comm,
  cache,
  size,
  requested_size,
  order,
  migrate_type,
  gfp,
  accounted,
  node,
  memory_node,
  cpu,
  context,
  address,
  lifetime,
  syscall,
  cgroup,
  container,
  free_site,
  free_task,
  free_process,
  free_comm,
  module,
  subsystem,
  directory,
};

struct GroupKeyInfo {
  GroupKey key;
  std::string_view name;  // name of the key in the option --by
  std::string_view header;
  unsigned allocators;       // bit mask of allocators (1 << Allocator) whose events have the key
  std::string_view meaning;  // one sentence
};

std::span<const GroupKeyInfo> group_keys();
const GroupKeyInfo& info_of(GroupKey key);
inline bool applies(GroupKey key, Allocator to) {
  return (info_of(key).allocators >> static_cast<unsigned>(to) & 1) != 0;
}

// Returns the key to read from the free event. For example, the key free_task is the key GroupKey::task of the free
// event. Empty for keys that do not describe the free.
constexpr std::optional<GroupKey> key_of_free(GroupKey key) {
  switch (key) {
    case GroupKey::free_site: return GroupKey::call_site;
    case GroupKey::free_task: return GroupKey::task;
    case GroupKey::free_process: return GroupKey::process;
    case GroupKey::free_comm: return GroupKey::comm;
    default: return std::nullopt;
  }
}
// True if the key only has a value after the allocation was freed.
constexpr bool is_known_when_freed(GroupKey key) { return key == GroupKey::lifetime || key_of_free(key).has_value(); }
constexpr std::size_t kMostGroupKeys = 6;  // maximum number of keys in one report

// returns "slab", "percpu", "vmalloc" or "pages"
std::string_view name_of(Allocator allocator);

struct CodeAddress {
  std::uint64_t address = 0;  // 0: the event does not contain an address
  std::string symbol;
  std::vector<SourceFrame> source;  // functions and source lines of the frame, from SymbolNames::frames()
  // True: the frame is in a stack and inside an allocator or one of its wrappers. It is therefore not the caller.
  bool is_wrapper = false;
  // Program or library such as "libc.so.6"; `address` is then an offset in this file. Empty: kernel code.
  std::string object = {};
  std::string build_id = {};  // build ID of `object`, in hex; empty: unknown
};
// Returns the frames of a stack without the inner wrappers. If every frame is a wrapper, returns all frames.
std::span<const CodeAddress> relevant_frames(const std::vector<CodeAddress>& stack);

// Returns "__d_alloc+0x29", with " (fs/dcache.c:1760)" added if the source line is known.
std::string plain_text(const CodeAddress& code);
// Returns "fs/ext4", with " (guess)" added if it is a guess.
std::string plain_text(const CodeOwner& owner);
// A number in a kernel event and its name: a migrate type or GFP flags.
struct NamedNumber {
  std::uint64_t number = 0;
  std::string name;
};
struct LifetimeRange {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;  // exclusive
};
// The start address of an allocation; for pages, the first page frame number.
struct MemoryAddress {
  std::uint64_t value = 0;
};
// The value of a key that describes the free, for allocations whose free is not in the trace.
struct NotFreed {};
// std::monostate: the event lacks the key, or the key does not apply to this allocator.
using KeyValue = std::variant<std::monostate, std::uint64_t, std::string, CodeAddress, std::vector<CodeAddress>,
                              TaskName, NamedNumber, LifetimeRange, MemoryAddress, NotFreed, CodeOwner>;
std::string plain_text(const KeyValue& value);
// True if `a` is sorted before `b`: numbers and lifetimes by size, all others by their text, missing values last.
bool comes_before(const KeyValue& a, const KeyValue& b);

// The sums of one group. For pages, freed bytes are counted per page frame, and an allocation ends when its first page
// frame is freed.
struct GroupRow : AllocationSums {
  Allocator allocator = Allocator::slab;
  std::vector<KeyValue> keys;  // one value for each key of the report
  std::string name;            // the texts of the keys
  // Set in groups that are not sums and have no key that describes the free.
  std::optional<std::uint64_t> peak_bytes;
  std::uint64_t peak_ns = 0;  // time when the peak was first reached
  // Times of the first and the last allocation, including failed allocations. If a key is only known at the free, the
  // row of allocations that were not freed has no times.
  std::optional<std::uint64_t> first_ns;
  std::optional<std::uint64_t> last_ns;
  std::optional<std::uint64_t> cross_node_frees;  // empty: the trace does not show which CPU belongs to which node
  Lifetimes lifetimes;
  std::uint64_t recorded_ns = 0;  // length of the recorded time within --time, for computing rates
  bool knows_bytes = true;        // false: events do not contain bytes_allocated, so freed and live bytes are unknown
  // False: freed and live bytes are unknown, because the table is grouped by lifetime and pages may be freed in parts
  // at different times.
  bool knows_freed = true;
  // Live allocations that the kernel may have freed without an event. If there are any, live counts are upper bounds.
  LiveCount maybe_freed;
  SharedHistory history;                // null if not requested, or if this group has no history
  std::optional<WindowClasses> window;  // empty if not requested
  SharedTraffic traffic;                // null if not requested, or if this group has no traffic
};

struct GroupTable {
  Allocator allocator = Allocator::slab;
  std::vector<GroupRow> rows;  // unsorted; the output code sorts and limits the rows
};

}  // namespace kmt
