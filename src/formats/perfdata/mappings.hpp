// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the code mappings of processes from PERF_RECORD_MMAP and PERF_RECORD_MMAP2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/byte_reader.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

struct Mapping {
  SpaceChange change;  // without `object` and `time_ns`, which the caller sets
  std::string path;
  std::string build_id;  // may be empty
};

// Reads a PERF_RECORD_MMAP or PERF_RECORD_MMAP2. Returns nothing if it does not map user code. Throws Error if it is
// too short.
std::optional<Mapping> read_mapping(const Record& record, ByteOrder order);

// Assigns numbers to the mapped objects, and adds new ones to TraceCode::user. The objects whose build IDs are in the
// file have been added before.
class MappedObjects {
 public:
  explicit MappedObjects(TraceInfo& info);
  std::uint32_t number_of(const Mapping& mapping);

 private:
  TraceInfo& info_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;  // numbers by path and build ID
  std::map<std::string, std::string> build_ids_;                          // build IDs by path
};

}  // namespace kmt::perfdata
