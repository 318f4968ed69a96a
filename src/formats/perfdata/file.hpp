// SPDX-License-Identifier: GPL-2.0-or-later
// What a perf.data says before its events are read: file mode, with a header of its own in front and features behind
// the data, or pipe mode, where all of that is records.
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
  std::uint64_t data_begin = 0;  // of the records, in the file
  std::uint64_t data_end = 0;
  Attributes attributes;
  std::optional<std::int32_t> first_task;   // that the first event of PERF_RECORD_ID_INDEX is of; negative: of all
  std::set<std::uint32_t> tracepoint_cpus;  // for which PERF_RECORD_ID_INDEX has tracepoints
  std::uint32_t cpus_online = 0;            // 0: the file does not say
  TraceDescription description;

  ByteOrder order() const { return description.kernel.byte_order; }
};

bool is_perf_data(Bytes file);

// Throws Error when the file's header is beyond reading; damage behind it becomes findings, and what is intact is kept.
FileContents parse_file(Bytes file, Findings& findings);

}  // namespace kmt::perfdata
