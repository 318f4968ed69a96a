// SPDX-License-Identifier: GPL-2.0-or-later
// What tasks are called, who started them, which process they belong to and what code that has, from PERF_RECORD_COMM,
// PERF_RECORD_FORK and the records of mappings. perf writes some of them for what it finds in /proc when the recording
// begins, or, with --tail-synthesize, when it has ended; those have no time.
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
  std::int32_t parent_process = 0;  // of a new process, 0: of a new thread
  bool executed = false;
  bool forked = false;
  bool at_end = false;             // without a time, behind what has one
  std::optional<Mapping> mapping;  // then all but the time is there
};

// Of a record of one of the two types. Throws Error when it is too short.
TaskChange read_task_change(const Record& record, ByteOrder order);

// What it does to the memory of its process.
std::optional<SpaceChange> space_change(const TaskChange& change);

// In the order of time.
void learn(const TaskChange& change, TraceInfo& info);

}  // namespace kmt::perfdata
