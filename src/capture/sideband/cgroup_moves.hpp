// SPDX-License-Identifier: GPL-2.0-or-later
// Records which task moved to which cgroup. When ftrace records only some tasks, it misses moves made by other tasks.
// Therefore this class reads the tracepoint cgroup:cgroup_attach_task with perf.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/sideband/kernel_changes.hpp"
#include "capture/sideband/perf_rings.hpp"
#include "trace/clock_scale.hpp"

namespace kmt {

class CgroupMoves {
 public:
  // Records moves from now on, if the kernel has the event. Times are in ticks of the trace clock `clock`.
  CgroupMoves(const std::string& tracefs, const std::vector<unsigned>& cpus, std::string clock,
              const ClockScale& scale);

  void cpus_changed(const std::vector<CpuChange>& changes);
  std::uint64_t ring_bytes() const { return rings_ ? rings_->bytes() : 0; }

  void poll();                                       // call it several times per second, because buffers are small
  const std::string& text() const { return text_; }  // the note `cgroup_moves` of docs/formats/kmt.md
  std::string lost_text() const;                     // the note `lost_cgroup_moves`; empty if no loss is known

 private:
  // Offsets of the event's fields in its record.
  struct Places {
    std::size_t hierarchy = 0;
    std::size_t task = 0;
    std::size_t path = 0;
  };
  void take(Bytes sample);
  std::uint64_t ticks_at(std::uint64_t perf_ns) const;

  std::string clock_;
  ClockScale scale_;
  Places places_;
  std::optional<PerfRings> rings_;  // empty if the kernel lacks the event
  std::uint64_t omitted_ = 0;       // number of moves that did not fit in the note
  std::set<unsigned> late_;         // CPUs that were online for some time without a buffer
  std::string text_;
};

}  // namespace kmt
