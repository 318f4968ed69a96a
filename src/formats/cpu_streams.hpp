// SPDX-License-Identifier: GPL-2.0-or-later
// Merges the event streams of a trace's CPUs, for all readers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/time_merge.hpp"

namespace kmt {

// Returns text such as "3 events", or "an unknown number of events" if `count` is empty.
std::string lost_events_text(std::optional<std::uint64_t> count);

struct CpuPart {
  unsigned cpu = 0;
  std::uint64_t bytes = 0;  // size of the CPU's data in the file, in bytes
  std::unique_ptr<CpuStream> stream;
};

// Merges the streams by time and reports progress. Events with equal times are ordered by CPU, then by the order of the
// parts that open() received.
class CpuStreams {
 public:
  void open(std::vector<CpuPart> parts);
  bool read(EventBatch& batch) { return merge_->read(batch); }
  // Returns the number of bytes that all streams have read. Each stream adds the bytes that it reads to this number.
  std::uint64_t& consumed() { return consumed_; }
  double progress() const { return total_ == 0 ? 1.0 : static_cast<double>(consumed_) / static_cast<double>(total_); }

 private:
  std::uint64_t total_ = 0;
  std::uint64_t consumed_ = 0;
  std::unique_ptr<TimeMerge> merge_;
};

Error no_such_buffer(const std::string& wanted, const std::vector<std::string>& names);

}  // namespace kmt
