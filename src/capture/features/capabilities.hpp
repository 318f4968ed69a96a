// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the tracing features that this kernel and this process have, and the reason for each missing feature. Probes
// files and permissions; the kernel's version is not used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/features/clocks.hpp"
#include "capture/features/events.hpp"
#include "capture/tracefs/mount.hpp"

namespace kmt {

struct Feature {
  std::string name;     // name such as "own buffers" or "per-event filters"
  std::string purpose;  // use of the feature in kmemtrace
  bool available = false;
  bool needed = false;  // true: nothing can be recorded without this feature
  std::string reason;   // reason why the feature is unavailable
};

struct BufferLimits {
  std::uint64_t default_bytes_per_cpu = 0;  // minimum buffer size per CPU in bytes that `record` uses by default
  std::uint64_t default_bytes = 0;          // default of `record --max-memory`, in bytes
  std::uint64_t most_bytes_per_cpu = 0;     // maximum buffer size per CPU in bytes that the available memory allows
  std::uint64_t memory_available = 0;       // MemAvailable in /proc/meminfo, in bytes
  std::uint32_t page_size = 0;              // size of a ring buffer's sub-buffers in bytes; 0: unknown
  unsigned cpus_online = 0;
  unsigned cpus_possible = 0;
};

struct Capabilities {
  std::string kernel;   // kernel release as shown by uname -r
  std::string machine;  // machine name as shown by uname -m
  TracefsMount tracefs;
  std::vector<Feature> features;
  std::vector<EventName> events;
  DefaultEvents default_events;
  TraceClocks clocks;
  BufferLimits limits;
  bool symbols_readable = false;  // true if /proc/kallsyms shows addresses
  std::string symbols_reason;

  // True if `record` can work on this system.
  bool can_record() const;
  // Returns the first reason why `record` cannot work, with advice; empty if it can work.
  std::string why_not() const;
};

// Returns the capabilities of this machine. `tracefs` is from find_tracefs() or a similar function. Never throws
// because of missing features.
Capabilities probe_capabilities(TracefsMount tracefs);

// Chooses buffer sizes according to the available memory. BufferLimits::page_size is unknown if tracefs is unreadable.
BufferLimits buffer_limits(const std::string& tracefs);

}  // namespace kmt
