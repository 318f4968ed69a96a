// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the entries of BPF programs about an event (records.h) into records as the kernel's own tracing makes them, so
// that readers need not know how a trace was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/bpf/programs/records.h"
#include "capture/features/events.hpp"

namespace kmt {

// The place of the kernel's contiguous page descriptors (struct page).
struct PageTable {
  std::uint64_t first = 0;  // of frame 0
  std::uint64_t bytes_each = 0;
};

// Properties of a kernel that determine its tracepoints' computed values (include/trace/events/kmem.h, Linux 6.1 to
// 6.18).
struct KernelTraits {
  std::optional<PageTable> pages;
  bool has_nodes = true;                 // CONFIG_NUMA
  std::uint64_t account_flag = 0;        // __GFP_ACCOUNT; 0: no accounting (without CONFIG_MEMCG)
  std::uint32_t cache_account_flag = 0;  // SLAB_ACCOUNT, likewise
};

// A field of a record and its source.
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
  bool is_kernel_record = false;  // words are the kernel's record after its first 8 bytes; else arguments
  std::uint8_t words = 0;
  std::int8_t cache = -1;                      // index of the word with a cache's number
  std::uint16_t bytes = 0;                     // of the record, without texts
  std::uint16_t kernel_bytes = 0;              // of these, in the kernel's record
  std::vector<FieldCopy> copies;               // from arguments
  std::vector<std::uint16_t> dynamic_offsets;  // of __data_loc fields of the kernel's record
};

// Returns the number of the event in events/SYSTEM/NAME/format. Throws Error.
std::uint16_t id_of_format(const std::string& format);

// `arguments`: the tracepoint's parameters. Empty, or without a field's value: the kernel's own records are used.
// Throws Error for an event that cannot be recorded at all.
EventLayout layout_of(const EventName& event, const std::string& format, const std::vector<std::string>& arguments,
                      const KernelTraits& kernel);

// Layout of the records of stacks.
struct StackLayout {
  std::uint16_t id = 0;
  std::uint16_t count_offset = 0;
  std::uint16_t frames_offset = 0;
};
// From events/ftrace/kernel_stack/format. Throws Error.
StackLayout stack_layout_of(const std::string& format);
// The same for user_stack, which has the process in place of the number of frames.
StackLayout user_stack_layout_of(const std::string& format);
// Returns that format with as many frames as programs take.
std::string longer_user_stack(const std::string& format);

constexpr std::size_t kMostRecordBytes = 2048;

// Both return the bytes written to `to`, which has room for kMostRecordBytes. `caches`: the event's table on its CPU.
std::size_t build_record(const EventLayout& layout, const KernelTraits& kernel, const kmt_entry& entry,
                         const std::uint64_t* words, const kmt_cache* caches, std::uint8_t* to);
std::size_t build_stack(const StackLayout& layout, const kmt_entry& entry, const std::uint64_t* frames,
                        std::size_t count, std::uint8_t* to);
std::size_t build_user_stack(const StackLayout& layout, const kmt_entry& entry, std::uint32_t process,
                             const std::uint64_t* frames, std::size_t count, std::uint8_t* to);

}  // namespace kmt
