// SPDX-License-Identifier: GPL-2.0-or-later
// One event of perf on several CPUs, which may come and go.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "capture/sideband/kernel_changes.hpp"
#include "capture/sideband/perf_events.hpp"

namespace kmt {

class PerfRings {
 public:
  // As PerfEvents::open() has them.
  PerfRings(const perf_event_attr& attributes, const std::vector<unsigned>& cpus, std::string clock,
            std::size_t ring_bytes);

  // What was not read of one that has gone is lost. Which of them came on line, and are still there.
  std::vector<unsigned> cpus_changed(const std::vector<CpuChange>& changes);
  bool empty() const { return rings_.empty(); }
  bool lacks_some() const { return !failed_.empty(); }  // of CPUs that are on line
  std::string why_none() const { return empty() && lacks_some() ? failed_.begin()->second : std::string(); }

  // give(record, type, misc), of each CPU in the order in which they were written. A record that it throws Error for is
  // shorter than it should be: it is counted as lost.
  template <typename Give>
  void read(Give&& give) {
    for (const auto& [cpu, ring] : rings_)
      ring->read([&](Bytes record, std::uint32_t type, std::uint16_t misc) {
        try {
          give(record, type, misc);
        } catch (const Error&) {
          ++lost_;
        }
      });
  }

  // "7 records", with those that the caller left out, and which CPUs told nothing for a while: "all of CPU 3:
  // Operation not permitted". Where there are no rings at all, why_none() says it.
  std::vector<std::string> losses(std::string_view records, std::uint64_t left_out = 0) const;
  std::uint64_t bytes() const;  // of kernel memory

 private:
  void open(unsigned cpu);
  void close(unsigned cpu);

  perf_event_attr attributes_;
  std::string clock_;
  std::size_t ring_bytes_;
  std::map<unsigned, std::unique_ptr<PerfEvents>> rings_;  // by CPU
  std::map<unsigned, std::string> failed_;                 // why there is none of a CPU now
  std::map<unsigned, std::string> gaps_;                   // or was none
  std::uint64_t lost_ = 0;                                 // of rings that are closed, and too short ones
};

}  // namespace kmt
