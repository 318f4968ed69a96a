// SPDX-License-Identifier: GPL-2.0-or-later
// Between a trace whose CPUs are mixed and a RecordSink, which takes one CPU after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "formats/record_stream.hpp"

namespace kmt {

// Gives each CPU's records to the sink in pieces, as streams that go on: all are held as copies until there are enough
// of a CPU, or too many of all.
class RecordsByCpu {
 public:
  // The sink must outlive this and have been described to. Its pages are those of the streams.
  RecordsByCpu(RecordSink& sink, std::uint32_t page_bytes) : sink_(sink), page_bytes_(page_bytes) {}

  // Of a CPU in its order.
  void record(unsigned cpu, std::uint64_t ticks, Bytes record);
  void lost(unsigned cpu, std::optional<std::uint64_t> count);
  // What is still held.
  void finish();

 private:
  struct Item {
    std::uint64_t ticks = 0;
    std::size_t bytes = 0;  // of the record
    bool is_loss = false;
    std::optional<std::uint64_t> lost;
  };
  struct Held {
    std::vector<Item> items;
    std::vector<std::uint8_t> records;  // one behind the other
    bool begun = false;
    std::size_t size() const { return items.size() * sizeof(Item) + records.size(); }
  };

  void add(unsigned cpu, const Item& item, Bytes record);
  void give(unsigned cpu, Held& held);

  RecordSink& sink_;
  std::uint32_t page_bytes_;
  std::map<unsigned, Held> cpus_;
  std::size_t held_bytes_ = 0;
};

}  // namespace kmt
