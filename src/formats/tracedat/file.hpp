// SPDX-License-Identifier: GPL-2.0-or-later
// The structure of a trace.dat file, versions 6 and 7, without the contents of ring-buffer pages.
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
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;    // bytes in the file; checked to lie within it
};

// A ring buffer: the top one, or an instance.
struct BufferData {
  std::string name;  // "" is the top buffer
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
  std::uint64_t most_places = 0;  // of CPUs' data, by the size of the file

  ByteOrder order() const { return description.kernel.byte_order; }
};

bool is_trace_dat(Bytes file);

// Limits of ring-buffer pages; any other size is damage.
constexpr bool is_possible_page_size(std::uint64_t bytes) { return bytes >= 64 && bytes <= (16u << 20); }

// Keeps intact parts; damage becomes findings. Throws Error if the header is unreadable.
FileContents parse_file(Bytes file, Findings& findings);

// Reports CPUs that may have had events but have no data in a buffer.
class MissingCpus {
 public:
  // describe_machine() made the info. Borrows the contents.
  MissingCpus(const FileContents& contents, const TraceInfo& info);
  void report(const BufferData& buffer, Findings& findings);

 private:
  const FileContents& contents_;
  std::set<unsigned> silent_;  // by the statistics, which are the top buffer's
  std::set<unsigned> had_events_;
  std::uint64_t places_left_;  // a valid file has no more of them
};

}  // namespace kmt::tracedat
