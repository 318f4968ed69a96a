// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the statistics of ring buffers from a text: the kernel's files per_cpu/cpuN/stats, and their copies that
// trace-cmd prints after a recording and with `report --stat`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmt::text {

class BufferStatisticsLines {
 public:
  // Reads a line. Returns false if the line is something else.
  bool add(std::string_view line);
  bool empty() const { return blocks_.empty(); }
  unsigned cpus() const;
  // Number of overwritten events of all CPUs.
  std::uint64_t overwritten() const;
  // Returns the entries for TraceDescription::cpu_stats.
  std::vector<std::string> cpu_stats() const;

 private:
  struct Block {  // the statistics of one CPU's buffer
    std::optional<unsigned> cpu;
    std::string lines;
    unsigned keys = 0;  // bit mask of the lines that the block has
    std::uint64_t overwritten = 0;
    std::uint64_t refused = 0;  // events that the buffer did not take
  };

  void start(std::optional<unsigned> cpu);
  bool add_file(std::string_view& line);

  std::vector<Block> blocks_;
  std::optional<unsigned> cpu_;  // the CPU of the lines that follow; empty if unknown
  bool starts_block_ = true;     // true if the next line starts a block
};

}  // namespace kmt::text
