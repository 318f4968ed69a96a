// SPDX-License-Identifier: GPL-2.0-or-later
// The code that is mapped in the memory of each process, by address and time. It is needed to name the functions in
// user stacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

// A program, a library, or code that is in no file.
struct CodeObject {
  // Path as the kernel reports it: "/usr/bin/make", "[vdso]". For generated code, "/tmp/perf-PID.map".
  std::string path;
  std::string build_id;  // lower-case hex digits; empty: unknown
  // Symbols as lines "START SIZE NAME" with numbers in hex, like in a perf-PID.map
  // (tools/perf/Documentation/jit-interface.txt). START is an address; for the vdso, it is an offset. Empty if the
  // object's file contains the symbols.
  std::string symbols;
};

struct SpaceChange {
  enum class Kind : std::uint8_t {
    mapped,    // code was mapped, which replaces earlier mappings at these addresses
    forked,    // a process started with the mappings of its parent
    executed,  // a process executed a new program and lost all its mappings
  };

  std::uint64_t time_ns = 0;  // on the trace's clock; 0: before the trace began
  std::int32_t process = 0;   // ID of the process (thread group)
  Kind kind = Kind::mapped;
  std::int32_t parent = 0;   // only for forks: the parent process
  std::uint32_t object = 0;  // only for mappings: index into UserMemory::objects
  std::uint64_t start = 0;   // only for mappings: first address
  std::uint64_t size = 0;    // only for mappings: size in bytes
  // Offset of the mapping in the object's file, in bytes. For generated code, the first address of the mapping.
  std::uint64_t file_offset = 0;
};

// The code objects and the changes of the processes' mappings, as stored in a trace.
struct UserMemory {
  std::vector<CodeObject> objects;
  std::vector<SpaceChange> changes;  // sorted by time

  bool empty() const { return changes.empty(); }
};

// Sorts the changes by time. Changes with equal times keep their order.
void sort_by_time(UserMemory& memory);

}  // namespace kmt
