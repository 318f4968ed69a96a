// SPDX-License-Identifier: GPL-2.0-or-later
// The code in the memory of each process, by address and time: it gives the addresses of a user stack their meaning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

// A program, a library, or code that has no file.
struct CodeObject {
  std::string path;      // as the kernel names it: "/usr/bin/make", "[vdso]"; of made code "/tmp/perf-PID.map"
  std::string build_id;  // lower-case hex; empty: not known
  // Lines "START SIZE NAME", numbers in hex, as a perf-PID.map has them (tools/perf/Documentation/jit-interface.txt):
  // START is an address, of the vdso an offset in it. Empty: the file has its own.
  std::string symbols;
};

struct SpaceChange {
  enum class Kind : std::uint8_t {
    mapped,    // code was mapped; whatever lay there is gone
    forked,    // a process began with the mappings of its parent
    executed,  // a process lost all its mappings
  };

  std::uint64_t time_ns = 0;  // on the trace's clock; 0: before the trace began
  std::int32_t process = 0;   // thread group
  Kind kind = Kind::mapped;
  std::int32_t parent = 0;        // of a fork
  std::uint32_t object = 0;       // of a mapping: index into UserMemory::objects
  std::uint64_t start = 0;        // likewise: the first address
  std::uint64_t size = 0;         // bytes
  std::uint64_t file_offset = 0;  // of the first address; of made code that address
};

// As it travels in a trace.
struct UserMemory {
  std::vector<CodeObject> objects;
  std::vector<SpaceChange> changes;  // by time

  bool empty() const { return changes.empty(); }
};

// Equal times keep their order.
void sort_by_time(UserMemory& memory);

}  // namespace kmt
