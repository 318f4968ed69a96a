// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the structure of a trace.dat file, versions 6 and 7. Ring-buffer pages are not decoded here.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/trace_description.hpp"
#include "trace/imperfections.hpp"

namespace kmt::tracedat {

struct CpuData {
  unsigned cpu = 0;
  std::uint64_t offset = 0;  // position in the file, in bytes
  std::uint64_t size = 0;    // number of bytes that the file has; missing bytes are not counted
};

// A ring buffer: the top-level one or an instance.
struct BufferData {
  std::string name;  // "" is the top-level buffer
  std::string clock;
  std::uint64_t page_size = 0;
  bool compressed = false;
  std::vector<CpuData> cpus;
};

struct FileContents {
  unsigned version = 0;
  std::string compression = "none";
  TraceDescription description;
  std::vector<BufferData> buffers;
  std::uint64_t most_places = 0;  // maximum number of CPU entries for a file of this size

  ByteOrder order() const { return description.kernel.byte_order; }
};

bool is_trace_dat(Bytes file);

// True if ring-buffer pages may have this size. Any other size is damage.
constexpr bool is_possible_page_size(std::uint64_t bytes) { return bytes >= 64 && bytes <= (16u << 20); }

// Reads all intact parts. Damage becomes findings. Throws Error if the header is unreadable.
FileContents parse_file(Bytes file, Findings& findings);

// Reports the CPUs that have no data in a buffer although they may have had events.
class MissingCpus {
 public:
  // `info` must be from describe_machine(). Borrows the contents.
  MissingCpus(const FileContents& contents, const TraceInfo& info);
  void report(const BufferData& buffer, Findings& findings);

 private:
  const FileContents& contents_;
  std::set<unsigned> silent_;  // CPUs without events, according to the statistics of the top-level buffer
  std::set<unsigned> had_events_;
  std::uint64_t places_left_;  // number of CPUs that may still be reported; depends on the file's size
};

}  // namespace kmt::tracedat
