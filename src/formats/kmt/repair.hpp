// SPDX-License-Identifier: GPL-2.0-or-later
// A .kmt file that was cut off or damaged, made whole: intact chunks stay as they are, everything else goes, index and
// trailer are made anew. What was left out is written down in the file (the fact `repaired`), so that nobody takes what
// is left for all there was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt::kmt_format {

struct Repair {
  struct Range {
    std::uint64_t offset = 0;  // in the damaged file
    std::uint64_t bytes = 0;
  };
  struct LeftOut {
    Range range;
    std::string what;
  };
  // What is kept of a CPU's ring buffer.
  struct Stream {
    unsigned cpu = 0;
    std::string buffer;  // "" is the top one
    std::uint64_t blocks = 0;
    std::uint64_t events = 0;
    std::optional<std::uint64_t> last_ns;  // of the last event
  };

  bool needed = false;
  bool readable = false;          // what is left describes the machine; without that nobody can read the events
  bool lacked_index = false;      // the file was cut off: its last blocks may be missing
  std::vector<LeftOut> left_out;  // in the order of the file
  std::vector<Stream> streams;    // by number
  std::vector<Range> kept;        // in order, never adjacent: the header and all intact chunks but an index
  std::vector<std::uint8_t> end;  // what goes behind them

  // Whether only the file's end is bad, so that it can be replaced where it is.
  bool only_end() const { return kept.size() == 1; }
};

// What there is to do. Throws Error when the file's header is beyond reading or no chunk in it is intact.
Repair plan_repair(Bytes file);

// Replaces the file's end. Whenever it is interrupted, the chunks that are kept stay readable. `size` is what the file
// had when the repair was planned. Throws Error.
void repair_in_place(const std::string& path, std::uint64_t size, const Repair& repair);
// Writes the repaired file beside `path` and gives it that name when it is whole and on the disk; a link
// of that name gives way. Throws Error.
void write_repaired(const std::string& path, Bytes file, const Repair& repair);

}  // namespace kmt::kmt_format
