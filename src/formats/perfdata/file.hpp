// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the description of the events in a perf.data. In file mode, there is a header at the start, and features follow
// the data. In pipe mode, records contain all of this.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/byte_reader.hpp"
#include "formats/perfdata/attributes.hpp"
#include "formats/trace_description.hpp"
#include "trace/imperfections.hpp"

namespace kmt::perfdata {

struct FileContents {
  bool is_pipe = false;
  std::uint64_t data_begin = 0;  // offset of the first record in the file, in bytes
  std::uint64_t data_end = 0;
  Attributes attributes;
  std::optional<std::int32_t> first_task;   // task of the first event in PERF_RECORD_ID_INDEX; negative: all tasks
  std::set<std::uint32_t> tracepoint_cpus;  // CPUs that have tracepoints in PERF_RECORD_ID_INDEX
  std::uint32_t cpus_online = 0;            // 0 if unknown
  TraceDescription description;

  ByteOrder order() const { return description.kernel.byte_order; }
};

bool is_perf_data(Bytes file);

// Reads all intact parts. Damage becomes findings. Throws Error if the file's header is unreadable.
FileContents parse_file(Bytes file, Findings& findings);

}  // namespace kmt::perfdata
