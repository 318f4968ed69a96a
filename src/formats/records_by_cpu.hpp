// SPDX-License-Identifier: GPL-2.0-or-later
// Groups the records of a trace by CPU, because a RecordSink expects one CPU after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "formats/record_stream.hpp"

namespace kmt {

// Buffers the records of each CPU and passes them to the sink in pieces: one stream per piece. A piece is passed on
// when one CPU has enough records, or when all CPUs together have too many.
class RecordsByCpu {
 public:
  // The sink must outlive this object. Its describe() must have been called. `page_bytes` is RecordStream::page_bytes
  // of all streams.
  RecordsByCpu(RecordSink& sink, std::uint32_t page_bytes) : sink_(sink), page_bytes_(page_bytes) {}

  // Adds a record. The records of one CPU must be in order.
  void record(unsigned cpu, std::uint64_t ticks, Bytes record);
  void lost(unsigned cpu, std::optional<std::uint64_t> count);
  // Passes the remaining records to the sink.
  void finish();

 private:
  struct Item {
    std::uint64_t ticks = 0;
    std::size_t bytes = 0;  // size of the record in Held::records
    bool is_loss = false;
    std::optional<std::uint64_t> lost;
  };
  struct Held {
    std::vector<Item> items;
    std::vector<std::uint8_t> records;  // concatenated
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
