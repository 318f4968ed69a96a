// SPDX-License-Identifier: GPL-2.0-or-later
// Reads names, parents, processes and code of tasks from PERF_RECORD_COMM, PERF_RECORD_FORK and mapping records. perf
// writes some of these records from /proc when the recording starts or, with --tail-synthesize, after the recording's
// end. These records have no time.
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
  std::string name;                 // empty: the task has the parent's name
  std::int32_t parent_process = 0;  // process that created a new process; 0 for a new thread
  bool executed = false;
  bool forked = false;
  // True if the record has no time although earlier records have one; perf wrote it after the recording's end.
  bool at_end = false;
  std::optional<Mapping> mapping;  // if set, no other member except time_ns is valid
};

// Reads a PERF_RECORD_COMM or PERF_RECORD_FORK. Throws Error if it is too short.
TaskChange read_task_change(const Record& record, ByteOrder order);

// Returns how the process' memory changes, or nothing if it does not.
std::optional<SpaceChange> space_change(const TaskChange& change);

// Adds a change to the tasks and address spaces in `info`. Call this in order of time.
void learn(const TaskChange& change, TraceInfo& info);

}  // namespace kmt::perfdata
