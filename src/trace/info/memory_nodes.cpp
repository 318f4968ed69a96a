// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/info/memory_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include <elf.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostRanges = 8192;  // more than any machine has; limits the time for damaged files

struct ZoneRange {
  std::uint64_t node = 0;
  std::uint64_t first = 0;
  std::uint64_t frames = 0;
  std::uint64_t present = 0;
};

// Returns the zones that have memory. The last line of a zone is "start_pfn:", which is missing in a truncated text.
std::vector<ZoneRange> zones_with_memory(std::string_view zoneinfo) {
  std::vector<ZoneRange> zones;
  ZoneRange zone;
  each_line(zoneinfo, [&](std::string_view line) {
    Words words(line);
    const std::string_view name = words.next();
    const auto number = leading_number(words.next());  // "0," in "Node 0, zone   DMA32"
    if (!number) return;
    if (name == "Node") zone = {*number, 0, 0, 0};
    if (name == "spanned") zone.frames = *number;
    if (name == "present") zone.present = *number;
    if (name != "start_pfn:" || zone.present == 0 || zones.size() >= kMostRanges) return;
    zone.first = *number;
    zones.push_back(zone);
  });
  return zones;
}

}  // namespace

MemoryNodes::MemoryNodes(const TraceMachine& machine, const TraceRecording& recording)
    : page_size_(machine.page_size), has_frames_(recording.page_identity == PageIdentity::frame) {
  std::set<std::uint64_t> nodes;
  read_nodes(note_in(recording.notes, "memory_nodes"));
  for (const Range& range : frames_) nodes.insert(range.to);
  for (const StateSample& sample : recording.samples)
    for (const ZoneRange& zone : zones_with_memory(text_of(sample, "zoneinfo"))) nodes.insert(zone.node);
  if (nodes.size() == 1) only_node_ = static_cast<unsigned>(*nodes.begin());
  frames_ = without_overlaps(frames_);
  read_direct_map(note_in(recording.notes, "direct_map"));
}

void MemoryNodes::read_nodes(std::string_view note) {
  constexpr std::uint64_t kMostNodes = 1 << 15;
  each_line(note, [&](std::string_view line) {
    Words words(line);
    const auto node = whole_number(words.next(), kMostNodes);
    const auto first = whole_number(words.next());
    const auto frames = whole_number(words.next());
    if (node && first && frames && frames_.size() < kMostRanges) frames_.push_back({*first, *first + *frames, *node});
  });
}

void MemoryNodes::read_direct_map(std::string_view note) {
  each_line(note, [&](std::string_view line) {
    Words words(line);
    const auto address = parse_hexadecimal(words.next());
    const auto physical = parse_hexadecimal(words.next());
    const auto bytes = parse_hexadecimal(words.next());
    if (address && physical && bytes && *bytes <= UINT64_MAX - *address && direct_map_.size() < kMostRanges)
      direct_map_.push_back({*address, *address + *bytes, *physical});
  });
  std::ranges::sort(direct_map_, {}, &Range::first);
}

// Zones of different nodes may overlap. The node of a frame in two zones is unknown.
std::vector<MemoryNodes::Range> MemoryNodes::without_overlaps(const std::vector<Range>& ranges) {
  std::set<std::uint64_t> borders;
  for (const Range& range : ranges) borders.insert({range.first, range.end});
  std::vector<Range> result;
  for (auto border = borders.begin(); border != borders.end() && std::next(border) != borders.end(); ++border) {
    std::set<std::uint64_t> nodes;
    for (const Range& range : ranges) {
      if (nodes.size() > 1) break;
      if (range.first <= *border && *border < range.end) nodes.insert(range.to);
    }
    if (nodes.size() == 1) result.push_back({*border, *std::next(border), *nodes.begin()});
  }
  return result;
}

const MemoryNodes::Range* MemoryNodes::range_with(const std::vector<Range>& ranges, std::uint64_t number) {
  const auto after = std::ranges::upper_bound(ranges, number, {}, &Range::first);
  if (after == ranges.begin()) return nullptr;
  const Range& range = *std::prev(after);
  return number < range.end ? &range : nullptr;
}

std::optional<unsigned> MemoryNodes::node_of(const Event& allocation) const {
  const Allocator allocator = allocator_of(allocation.kind);
  const bool of_pages = allocator == Allocator::pages;
  if (allocation.address == (of_pages ? kNoPage : 0)) return std::nullopt;
  if (only_node_) return only_node_;
  std::uint64_t frame = allocation.address;
  if (of_pages && !has_frames_) return std::nullopt;
  if (!of_pages) {
    const Range* const mapped = allocator == Allocator::slab ? range_with(direct_map_, frame) : nullptr;
    if (mapped == nullptr || page_size_ == 0) return std::nullopt;
    frame = (frame - mapped->first + mapped->to) / page_size_;
  }
  const Range* const range = range_with(frames_, frame);
  return range == nullptr ? std::nullopt : std::optional(static_cast<unsigned>(range->to));
}

std::string memory_nodes_note(std::string_view zoneinfo) {
  std::string lines;
  for (const ZoneRange& zone : zones_with_memory(zoneinfo))
    lines += fmt::format("{} {} {}\n", zone.node, zone.first, zone.frames);
  return lines;
}

std::string direct_map_note(Bytes headers) try {
  ByteReader reader(headers, kHostOrder);
  const Bytes ident = reader.bytes(EI_NIDENT);
  if (as_text(ident.first(SELFMAG)) != ELFMAG || ident[EI_CLASS] != ELFCLASS64) return {};
  reader.seek(offsetof(Elf64_Ehdr, e_phoff));
  const std::uint64_t table = reader.u64();
  reader.seek(offsetof(Elf64_Ehdr, e_phentsize));
  const std::uint64_t entry_bytes = reader.u16();
  const std::uint64_t count = reader.u16();
  std::string lines;
  for (std::uint64_t i = 0; i < count; ++i) {
    reader.seek(table + i * entry_bytes);
    const std::uint32_t type = reader.u32();
    reader.skip(sizeof(std::uint32_t) + sizeof(std::uint64_t));  // p_flags, p_offset
    const std::uint64_t address = reader.u64();
    const std::uint64_t physical = reader.u64();
    const std::uint64_t bytes = reader.u64();
    // Segments that are not of memory have the physical address 0 before Linux 4.11, and -1 since then.
    if (type == PT_LOAD && physical != 0 && physical != UINT64_MAX)
      lines += fmt::format("{:x} {:x} {:x}\n", address, physical, bytes);
  }
  return lines;
} catch (const Error&) {
  return {};  // the headers are cut off
}

}  // namespace kmt
