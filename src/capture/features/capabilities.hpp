// SPDX-License-Identifier: GPL-2.0-or-later
// Tracing features that this kernel and this process have, and the reason for each missing one. Found by probing
// (files, permissions), never by the version.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/features/clocks.hpp"
#include "capture/features/events.hpp"
#include "capture/tracefs/mount.hpp"

namespace kmt {

struct Feature {
  std::string name;     // "own buffers", "per-event filters", …
  std::string purpose;  // its use in kmemtrace
  bool available = false;
  bool needed = false;  // nothing can be recorded without it
  std::string reason;   // why it is unavailable
};

struct BufferLimits {
  std::uint64_t default_bytes_per_cpu = 0;  // least size that `record` uses by default
  std::uint64_t default_bytes = 0;          // most that it uses by default, all CPUs together
  std::uint64_t most_bytes_per_cpu = 0;     // most that the available memory allows
  std::uint64_t memory_available = 0;       // bytes, MemAvailable of /proc/meminfo
  std::uint32_t page_size = 0;              // of a ring buffer's sub-buffers; 0: unknown
  unsigned cpus_online = 0;
  unsigned cpus_possible = 0;
};

struct Capabilities {
  std::string kernel;   // release
  std::string machine;  // as uname -m
  TracefsMount tracefs;
  std::vector<Feature> features;
  std::vector<EventName> events;
  DefaultEvents default_events;
  TraceClocks clocks;
  BufferLimits limits;
  bool symbols_readable = false;  // /proc/kallsyms shows addresses
  std::string symbols_reason;

  // True if `record` can work here.
  bool can_record() const;
  // Returns the first reason why not, with advice; empty if it can.
  std::string why_not() const;
};

// Takes tracefs from find_tracefs() and the like. Never throws for missing features.
Capabilities probe_capabilities(TracefsMount tracefs);

// Chooses buffer sizes by available memory; page_size needs a readable tracefs.
BufferLimits buffer_limits(const std::string& tracefs);

}  // namespace kmt
