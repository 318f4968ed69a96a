// SPDX-License-Identifier: GPL-2.0-or-later
// Tasks' names, parents, processes and code, from PERF_RECORD_COMM, PERF_RECORD_FORK and the records of mappings. perf
// writes some from /proc when the recording begins, or, with --tail-synthesize, after its end; those have no time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"
#include "formats/perfdata/mappings.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

struct TaskChange {
  std::uint64_t time_ns = 0;
  std::int32_t process = 0;
  std::int32_t task = 0;
  std::int32_t parent = 0;          // the task that forked
  std::string name;                 // empty: the parent's
  std::int32_t parent_process = 0;  // the parent of a new process; 0 for a new thread
  bool executed = false;
  bool forked = false;
  bool at_end = false;             // without a time, after records with one
  std::optional<Mapping> mapping;  // if set, only the time is set besides
};

// Reads a record of one of the two types. Throws Error if it is too short.
TaskChange read_task_change(const Record& record, ByteOrder order);

// Returns the change of the process' memory.
std::optional<SpaceChange> space_change(const TaskChange& change);

// Call it in the order of time.
void learn(const TaskChange& change, TraceInfo& info);

}  // namespace kmt::perfdata
