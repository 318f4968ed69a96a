// SPDX-License-Identifier: GPL-2.0-or-later
// What this kernel allows to be traced by this process, each missing thing with its reason. Everything is found by
// looking (files, permissions), never guessed from a version.
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
  std::string purpose;  // what kmemtrace uses it for
  bool available = false;
  bool needed = false;  // without it nothing can be recorded
  std::string reason;   // why it is not available
};

struct BufferLimits {
  std::uint64_t default_bytes_per_cpu = 0;  // what `record` takes at least when nothing is asked for
  std::uint64_t default_bytes = 0;          // what it takes at most then, all CPUs together
  std::uint64_t most_bytes_per_cpu = 0;     // what the memory that is available now would allow
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

  // Whether `record` can work here.
  bool can_record() const;
  // The first reason why not, with what to do; empty when it can.
  std::string why_not() const;
};

// Probes with tracefs as given by find_tracefs() and the like. Never throws for what is missing.
Capabilities probe_capabilities(TracefsMount tracefs);

// Buffer sizes by what memory there is; page_size only when tracefs can be read.
BufferLimits buffer_limits(const std::string& tracefs);

}  // namespace kmt
