// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the entries that BPF programs write for events (records.h) to records in the layout of ftrace. Readers of a
// trace process them like records that ftrace wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/bpf/programs/records.h"
#include "capture/features/events.hpp"

namespace kmt {

// The kernel's array of page descriptors (struct page).
struct PageTable {
  std::uint64_t first = 0;  // address of the descriptor of frame 0
  std::uint64_t bytes_each = 0;
};

// Facts about the kernel that are needed to compute values as its tracepoints do (include/trace/events/kmem.h, Linux
// 6.1 to 6.18).
struct KernelTraits {
  std::optional<PageTable> pages;
  bool has_nodes = true;                 // true if the kernel has CONFIG_NUMA
  std::uint64_t account_flag = 0;        // __GFP_ACCOUNT; 0 without memory accounting (no CONFIG_MEMCG)
  std::uint32_t cache_account_flag = 0;  // SLAB_ACCOUNT; 0 without memory accounting
};

// A field of a record, with the source of its value.
struct FieldCopy {
  enum class Source : std::uint8_t { argument, frame, requested, allocated, name, accounted, no_node };
  Source source = Source::argument;
  std::uint8_t word = 0;
  std::uint16_t offset = 0;
  std::uint16_t bytes = 0;
};

struct EventLayout {
  EventName event;
  std::string description;  // events/SYSTEM/NAME/format
  std::uint16_t id = 0;
  // true: the words are the kernel's record after its first 8 bytes; false: the tracepoint's arguments
  bool is_kernel_record = false;
  std::uint8_t words = 0;
  std::int8_t cache = -1;                      // index of the word that has the cache's number; -1 if none
  std::uint16_t bytes = 0;                     // size of the record without strings and arrays
  std::uint16_t kernel_bytes = 0;              // size of the record's part that is copied from the kernel's record
  std::vector<FieldCopy> copies;               // fields made from arguments
  std::vector<std::uint16_t> dynamic_offsets;  // offsets of the __data_loc fields of the kernel's record
};

// Returns the event's number in `format`, the text of events/SYSTEM/NAME/format. Throws Error.
std::uint16_t id_of_format(const std::string& format);

// Returns the layout of an event's records. `arguments` are the tracepoint's parameters. If a field's value is not
// among them, the programs copy the kernel's own records. Throws Error for an event that cannot be recorded at all.
EventLayout layout_of(const EventName& event, const std::string& format, const std::vector<std::string>& arguments,
                      const KernelTraits& kernel);

// The layout of stack records.
struct StackLayout {
  std::uint16_t id = 0;
  std::uint16_t count_offset = 0;
  std::uint16_t frames_offset = 0;
};
// Reads the layout from events/ftrace/kernel_stack/format. Throws Error.
StackLayout stack_layout_of(const std::string& format);
// Reads the layout of user_stack, which has the process ID instead of the number of frames.
StackLayout user_stack_layout_of(const std::string& format);
// Returns the format of user_stack, changed to the maximum number of frames that the BPF programs record.
std::string longer_user_stack(const std::string& format);

constexpr std::size_t kMostRecordBytes = 2048;

// Each function builds a record in `to` and returns its size in bytes. `to` must have room for kMostRecordBytes.
// `caches` is the table of the CPU on which the event was recorded.
std::size_t build_record(const EventLayout& layout, const KernelTraits& kernel, const kmt_entry& entry,
                         const std::uint64_t* words, const kmt_cache* caches, std::uint8_t* to);
std::size_t build_stack(const StackLayout& layout, const kmt_entry& entry, const std::uint64_t* frames,
                        std::size_t count, std::uint8_t* to);
std::size_t build_user_stack(const StackLayout& layout, const kmt_entry& entry, std::uint32_t process,
                             const std::uint64_t* frames, std::size_t count, std::uint8_t* to);

}  // namespace kmt
