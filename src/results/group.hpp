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
#include "results/report/traffic.hpp"
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
};

struct GroupKeyInfo {
  GroupKey key;
  std::string_view name;  // the word for --by
  std::string_view header;
  unsigned allocators;       // a bit, 1 << Allocator, for each whose events have it
  std::string_view meaning;  // one sentence
};

std::span<const GroupKeyInfo> group_keys();
const GroupKeyInfo& info_of(GroupKey key);
inline bool applies(GroupKey key, Allocator to) {
  return (info_of(key).allocators >> static_cast<unsigned>(to) & 1) != 0;
}
constexpr std::size_t kMostGroupKeys = 6;  // that can be nested

// "slab", "percpu", "vmalloc", "pages"
std::string_view name_of(Allocator allocator);

struct CodeAddress {
  std::uint64_t address = 0;  // 0: the kernel does not say
  std::string symbol;
  std::vector<SourceFrame> source;  // as SymbolNames::frames() gives it
  bool is_wrapper = false;          // in a stack: in front of the caller, part or wrapper of an allocator
  std::string object = {};          // of a user program's code, whose address is an offset in it: "libc.so.6"
  std::string build_id = {};        // of that object, in hex; empty: not known
};
// The frames of a stack that tell who allocates: from the caller on; all where every one is a wrapper.
std::span<const CodeAddress> relevant_frames(const std::vector<CodeAddress>& stack);

// "__d_alloc+0x29", followed by " (fs/dcache.c:1760)" if known.
std::string plain_text(const CodeAddress& code);
struct TaskName {
  std::optional<std::int32_t> id;             // empty: what an interrupt allocates belongs to no task
  std::string comm;                           // of a process the last one
  std::optional<std::uint64_t> born_ns = {};  // if several tasks of the trace have this id; 0: before the trace
  std::vector<std::string> earlier = {};      // of a process: the first names that it allocated with before that one
};
// A number of the kernel with its name: a migrate type, gfp flags.
struct NamedNumber {
  std::uint64_t number = 0;
  std::string name;
};
struct LifetimeRange {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;  // exclusive
};
// Where an allocation begins; of pages the number of its first frame.
struct MemoryAddress {
  std::uint64_t value = 0;
};
// std::monostate: the event does not say, or the key does not apply to this allocator.
using KeyValue = std::variant<std::monostate, std::uint64_t, std::string, CodeAddress, std::vector<CodeAddress>,
                              TaskName, NamedNumber, LifetimeRange, MemoryAddress>;
std::string plain_text(const KeyValue& value);
// The order in which people expect values: numbers and lifetimes by size, all else by their text; what is not said
// last.
bool comes_before(const KeyValue& a, const KeyValue& b);

// Bytes of pages are counted by page frame. An allocation of pages ends when its first frame is freed.
struct GroupRow : AllocationSums {
  Allocator allocator = Allocator::slab;
  std::vector<KeyValue> keys;               // as many as are grouped by
  std::string name;                         // their plain texts
  std::optional<std::uint64_t> peak_bytes;  // empty for allocations of one lifetime, and for a sum
  std::uint64_t peak_ns = 0;                // when it was first reached
  // First and last allocation, failed ones included. In groups by lifetime, empty for allocations that were not freed.
  std::optional<std::uint64_t> first_ns;
  std::optional<std::uint64_t> last_ns;
  std::optional<std::uint64_t> cross_node_frees;  // empty: the trace does not say which CPU is on which node
  Lifetimes lifetimes;
  std::uint64_t recorded_ns = 0;  // of the trace, within --time: for rates
  bool knows_bytes = true;        // false: the kernel does not say bytes_allocated, so freed and live bytes are unknown
  bool knows_freed = true;        // false: pages by lifetime, which end in parts, have no freed and live bytes
  SharedHistory history;          // null if not requested, or not kept
  SharedTraffic traffic;          // likewise
};

struct GroupTable {
  Allocator allocator = Allocator::slab;
  std::vector<GroupRow> rows;  // unsorted; views sort and cut
};

}  // namespace kmt
