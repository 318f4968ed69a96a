// SPDX-License-Identifier: GPL-2.0-or-later
// Keys by which `report --by` groups allocations, and the sums of each group.
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
#include "results/task_name.hpp"
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
  node,
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
};

struct GroupKeyInfo {
  GroupKey key;
  std::string_view name;  // name for --by
  std::string_view header;
  unsigned allocators;       // bit 1 << Allocator for each allocator whose events have the key
  std::string_view meaning;  // one sentence
};

std::span<const GroupKeyInfo> group_keys();
const GroupKeyInfo& info_of(GroupKey key);
inline bool applies(GroupKey key, Allocator to) {
  return (info_of(key).allocators >> static_cast<unsigned>(to) & 1) != 0;
}

// The key of a free event that a key for frees stands for: free_task groups by GroupKey::task of the free. Empty for
// the other keys.
constexpr std::optional<GroupKey> key_of_free(GroupKey key) {
  switch (key) {
    case GroupKey::free_site: return GroupKey::call_site;
    case GroupKey::free_task: return GroupKey::task;
    case GroupKey::free_process: return GroupKey::process;
    default: return std::nullopt;
  }
}
// True if the key has no value before the allocation is freed.
constexpr bool is_known_when_freed(GroupKey key) { return key == GroupKey::lifetime || key_of_free(key).has_value(); }
constexpr std::size_t kMostGroupKeys = 6;  // largest number of nested keys

// "slab", "percpu", "vmalloc", "pages"
std::string_view name_of(Allocator allocator);

struct CodeAddress {
  std::uint64_t address = 0;  // 0: the kernel does not report it
  std::string symbol;
  std::vector<SourceFrame> source;  // result of SymbolNames::frames()
  bool is_wrapper = false;          // in a stack: a frame inside an allocator or its wrapper, before the caller
  // Program or library such as "libc.so.6", in which `address` is an offset; empty: the kernel.
  std::string object = {};
  std::string build_id = {};  // build ID of `object`, in hex; empty: unknown
};
// Returns the frames of a stack from the caller on. Returns all frames if every frame is a wrapper.
std::span<const CodeAddress> relevant_frames(const std::vector<CodeAddress>& stack);

// Returns "__d_alloc+0x29", with " (fs/dcache.c:1760)" added if the source line is known.
std::string plain_text(const CodeAddress& code);
// A kernel number with its name: a migrate type or GFP flags.
struct NamedNumber {
  std::uint64_t number = 0;
  std::string name;
};
struct LifetimeRange {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;  // exclusive
};
// The start address of an allocation; for pages, the number of the first page frame.
struct MemoryAddress {
  std::uint64_t value = 0;
};
// The value of keys that are known when an allocation is freed, for allocations without a matched free.
struct NotFreed {};
// std::monostate: the event lacks the key, or the key does not apply to this allocator.
using KeyValue = std::variant<std::monostate, std::uint64_t, std::string, CodeAddress, std::vector<CodeAddress>,
                              TaskName, NamedNumber, LifetimeRange, MemoryAddress, NotFreed>;
std::string plain_text(const KeyValue& value);
// Orders values as people expect: numbers and lifetimes by size, all others by their text, missing values last.
bool comes_before(const KeyValue& a, const KeyValue& b);

// Bytes of pages are counted per page frame. An allocation of pages ends when its first page frame is freed.
struct GroupRow : AllocationSums {
  Allocator allocator = Allocator::slab;
  std::vector<KeyValue> keys;               // one value for each key of the report
  std::string name;                         // the keys as plain text
  std::optional<std::uint64_t> peak_bytes;  // empty in sums, and in groups by keys that are known when freed
  std::uint64_t peak_ns = 0;                // time when the peak was first reached
  // Times of the first and the last allocation, including failed allocations. In groups by keys that are known when an
  // allocation is freed, they are empty for allocations that were not freed.
  std::optional<std::uint64_t> first_ns;
  std::optional<std::uint64_t> last_ns;
  std::optional<std::uint64_t> cross_node_frees;  // empty: the trace does not contain the nodes of the CPUs
  Lifetimes lifetimes;
  std::uint64_t recorded_ns = 0;  // recorded time of the trace within --time, used for rates
  bool knows_bytes = true;  // false: the kernel does not report bytes_allocated, so freed and live bytes are unknown
  // False: freed and live bytes are unknown, because pages grouped by lifetime are freed in parts.
  bool knows_freed = true;
  // Live allocations that the kernel may have freed without an event. If there are any, live counts are upper bounds.
  LiveCount maybe_freed;
  SharedHistory history;  // null if not requested or not stored
  SharedTraffic traffic;  // likewise
};

struct GroupTable {
  Allocator allocator = Allocator::slab;
  std::vector<GroupRow> rows;  // unsorted; views sort and limit them
};

}  // namespace kmt
