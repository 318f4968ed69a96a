// SPDX-License-Identifier: GPL-2.0-or-later
// The code in the memory of each process, by address and time. It is needed to find the functions in user stacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

// A program, a library, or code without a file.
struct CodeObject {
  std::string path;      // as the kernel names it: "/usr/bin/make", "[vdso]"; generated code: "/tmp/perf-PID.map"
  std::string build_id;  // lower-case hex; empty: unknown
  // Lines "START SIZE NAME" with numbers in hex, as in a perf-PID.map (tools/perf/Documentation/jit-interface.txt).
  // START is an address, or an offset for the vdso. Empty if the symbols are in the object's file.
  std::string symbols;
};

struct SpaceChange {
  enum class Kind : std::uint8_t {
    mapped,    // code was mapped; it replaces earlier mappings at its address
    forked,    // a process started with the mappings of its parent
    executed,  // a process lost all its mappings
  };

  std::uint64_t time_ns = 0;  // on the trace's clock; 0: before the trace began
  std::int32_t process = 0;   // thread group
  Kind kind = Kind::mapped;
  std::int32_t parent = 0;        // only for forks
  std::uint32_t object = 0;       // only for mappings: index into UserMemory::objects
  std::uint64_t start = 0;        // only for mappings: first address
  std::uint64_t size = 0;         // bytes
  std::uint64_t file_offset = 0;  // file offset of the first address; for generated code, that address
};

// The code objects and changes as stored in a trace.
struct UserMemory {
  std::vector<CodeObject> objects;
  std::vector<SpaceChange> changes;  // by time

  bool empty() const { return changes.empty(); }
};

// Changes with equal times keep their order.
void sort_by_time(UserMemory& memory);

}  // namespace kmt
