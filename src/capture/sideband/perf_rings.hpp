// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a perf event on several CPUs, which may go online and offline.
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
  // The parameters are those of PerfEvents::open().
  PerfRings(const perf_event_attr& attributes, const std::vector<unsigned>& cpus, std::string clock,
            std::size_t ring_bytes);

  // Opens and closes rings. Unread records of an offline CPU are lost. Returns the CPUs that came online and are still
  // online.
  std::vector<unsigned> cpus_changed(const std::vector<CpuChange>& changes);
  bool empty() const { return rings_.empty(); }
  bool lacks_some() const { return !failed_.empty(); }  // true if an online CPU has no ring
  std::string why_none() const { return empty() && lacks_some() ? failed_.begin()->second : std::string(); }

  // Calls give(record, type, misc) for each record; the records of each CPU are in the order in which they were
  // written. If give() throws Error, the record was too short and counts as lost.
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

  // Returns texts about lost records. A text such as "7 records" includes `omitted`, the number of records that the
  // caller dropped. For each CPU that had no ring for some time, there is a text such as "all of CPU 3: Operation not
  // permitted". If there are no rings at all, why_none() has the reason.
  std::vector<std::string> losses(std::string_view records, std::uint64_t omitted = 0) const;
  std::uint64_t bytes() const;  // bytes of kernel memory

 private:
  void open(unsigned cpu);
  void close(unsigned cpu);

  perf_event_attr attributes_;
  std::string clock_;
  std::size_t ring_bytes_;
  std::map<unsigned, std::unique_ptr<PerfEvents>> rings_;  // key: number of the CPU
  std::map<unsigned, std::string> failed_;                 // key: CPU that has no ring now; value: the reason
  std::map<unsigned, std::string> gaps_;                   // key: CPU that had no ring for some time; value: the reason
  // number of records that were lost in closed rings or were too short
  std::uint64_t lost_ = 0;
};

}  // namespace kmt
