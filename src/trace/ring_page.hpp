// SPDX-License-Identifier: GPL-2.0-or-later
// Reads one page (sub-buffer) of the kernel's ring buffer, as in trace_pipe_raw and trace.dat. The layout is from
// kernel/trace/ring_buffer.c and include/linux/ring_buffer.h, Linux 6.1; it is unchanged since 2.6.31.
//
// A page is: u64 timestamp, long commit, data. Bits of `commit`:
//   0-26  number of data bytes
//   30    a long with the number of lost events follows the data
//   31    events were lost before this page
// A record starts with a u32 of type_len:5 and time_delta:27. The low bits come first on little endian, and the high
// bits on big endian. Values of type_len:
//   0     a u32 length follows, which counts itself, then the payload
//   1-28  the payload has 4 * type_len bytes
//   29    padding: with time_delta 0 the page ends here; otherwise a u32 length follows
//   30    time extend: a u32 follows with bits 27 and up of the delta
//   31    absolute time stamp: a u32 follows with bits 27-58; the top 5 bits are the same as in the previous time
#pragma once

#include <cstdint>
#include <optional>

#include "base/arithmetic/size.hpp"
#include "base/byte_reader.hpp"

namespace kmt {

struct PageLayout {
  ByteOrder order = kHostOrder;
  unsigned long_bytes = 8;  // size of the kernel's `commit` in events/header_page
  std::uint64_t page_size = 4096;

  unsigned data_offset() const { return 8 + long_bytes; }
};

// Facts about a page that are not in its records.
struct PageEnd {
  bool missed_events = false;                 // true if events were lost before the first record of the page
  std::optional<std::uint64_t> missed_count;  // empty if the kernel did not record the number
  // Text that describes the damage of the page; null if the page is intact. Records after the damage are skipped.
  const char* damage = nullptr;
  std::uint64_t damage_offset = 0;  // in bytes from the start of the page
};

namespace page_format {
constexpr std::uint64_t kCommitMask = (1u << 27) - 1;
constexpr std::uint64_t kMissedEvents = 1u << 31;
constexpr std::uint64_t kMissedStored = 1u << 30;
constexpr unsigned kTypePadding = 29;
constexpr unsigned kTypeTimeExtend = 30;
constexpr unsigned kTypeTimeStamp = 31;
constexpr unsigned kDeltaBits = 27;
constexpr std::uint64_t kDeltaMask = (1u << kDeltaBits) - 1;
constexpr std::uint64_t kStampTop = 0xF8ull << 56;  // the bits that an absolute time stamp omits (the kernel's TS_MSB)
}  // namespace page_format

struct PageHeader {
  std::uint64_t time = 0;
  std::uint64_t data_bytes = 0;  // from `commit`, but at most the size of the page
  PageEnd end;
};

// Reads the header of a page. If the page is shorter than its header says, the damage starts at the end of the page.
inline PageHeader read_page_header(Bytes page, const PageLayout& layout) {
  using namespace page_format;
  PageHeader header;
  if (page.size() < layout.data_offset()) {
    header.end.damage = "the page is shorter than its header";
    return header;
  }
  header.time = load<std::uint64_t>(page.data(), layout.order);
  const std::uint64_t commit = load_sized(page.data() + 8, layout.long_bytes, layout.order);
  const std::uint64_t room = page.size() - layout.data_offset();
  header.data_bytes = commit & kCommitMask;
  if (header.time == 0 && commit == 0) header.end.damage = "the page was never written: its header is zero";
  if (header.data_bytes > room) {
    header.end.damage = "the page's length is beyond its end";
    header.end.damage_offset = 8;
    header.data_bytes = room;
  }
  header.end.missed_events = (commit & kMissedEvents) != 0;
  if (header.end.missed_events && (commit & kMissedStored) != 0 && room - header.data_bytes >= layout.long_bytes)
    header.end.missed_count =
        load_sized(page.data() + layout.data_offset() + header.data_bytes, layout.long_bytes, layout.order);
  return header;
}

// Calls visit(time, payload, offset) for every record, with the offset of the payload in the page. `time` is in ticks
// of the trace's clock. The payload may contain padding after the event.
template <typename Visit>
PageEnd walk_page(Bytes page, const PageLayout& layout, Visit&& visit) {
  using namespace page_format;
  const PageHeader header = read_page_header(page, layout);
  PageEnd end = header.end;
  const ByteOrder order = layout.order;
  const std::uint8_t* const start = page.data();
  std::uint64_t at = layout.data_offset();
  const std::uint64_t limit = at + header.data_bytes;
  std::uint64_t time = header.time;
  if (page.size() < at) return end;

  const auto damaged = [&end, &at](const char* what) {
    if (end.damage == nullptr) {
      end.damage = what;
      end.damage_offset = at;
    }
  };

  while (limit - at >= 4) {
    const auto word = load<std::uint32_t>(start + at, order);
    const unsigned type_len = order == ByteOrder::little ? word & 31u : word >> kDeltaBits;
    const std::uint64_t delta = order == ByteOrder::little ? word >> 5 : word & kDeltaMask;

    if (type_len >= 1 && type_len < kTypePadding) {
      const std::uint64_t length = std::uint64_t{type_len} * 4;
      if (limit - at - 4 < length) return damaged("a record reaches beyond the page's data"), end;
      time += delta;
      visit(time, Bytes(start + at + 4, to_size(length)), at + 4);
      at += 4 + length;
      continue;
    }
    if (type_len == kTypePadding && delta == 0) return end;  // end of the committed data
    if (limit - at < 8) return damaged("a record's second word is beyond the page's data"), end;
    const std::uint64_t second = load<std::uint32_t>(start + at + 4, order);
    if (type_len == kTypeTimeExtend) {
      time += delta | second << kDeltaBits;
      at += 8;
    } else if (type_len == kTypeTimeStamp) {
      std::uint64_t stamp = delta | second << kDeltaBits;
      if ((time & kStampTop) != 0) {
        stamp |= time & kStampTop;
        if (stamp < time) stamp += std::uint64_t{1} << 59;
      }
      time = stamp;
      at += 8;
    } else {  // the next word is the length: this is a long record or a discarded record
      if (second < 4 || limit - at - 4 < second) return damaged("a record reaches beyond the page's data"), end;
      time += delta;
      if (type_len == 0) visit(time, Bytes(start + at + 8, to_size(second - 4)), at + 8);
      at += 4 + second;
    }
  }
  if (limit != at) damaged("bytes remain after the last record");
  return end;
}

}  // namespace kmt
