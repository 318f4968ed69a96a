// SPDX-License-Identifier: GPL-2.0-or-later
// What tasks are called and which process they belong to, from PERF_RECORD_COMM and PERF_RECORD_FORK. perf writes some
// of them for what ran before the recording; those have no time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

struct TaskChange {
  std::uint64_t time_ns = 0;
  std::int32_t process = 0;
  std::int32_t task = 0;
  std::int32_t parent = 0;  // the task that forked
  std::string name;         // empty: the parent's
};

// Of a record of one of the two types. Throws Error when it is too short.
TaskChange read_task_change(const Record& record, ByteOrder order);

// In the order of time.
void learn(const TaskChange& change, TraceInfo& info);

}  // namespace kmt::perfdata
