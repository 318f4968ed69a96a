// SPDX-License-Identifier: GPL-2.0-or-later
// Code in the memory of processes, from PERF_RECORD_MMAP and PERF_RECORD_MMAP2.
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
  SpaceChange change;  // without its object and time
  std::string path;
  std::string build_id;  // may be empty
};

// Reads a record of one of the two types; empty if it does not map user code. Throws Error if it is too short.
std::optional<Mapping> read_mapping(const Record& record, ByteOrder order);

// Numbers objects in TraceCode::user, which already holds those with a build ID in the file.
class MappedObjects {
 public:
  explicit MappedObjects(TraceInfo& info);
  std::uint32_t number_of(const Mapping& mapping);

 private:
  TraceInfo& info_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;  // by path and build ID
  std::map<std::string, std::string> build_ids_;                          // by path
};

}  // namespace kmt::perfdata
