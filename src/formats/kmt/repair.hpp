// SPDX-License-Identifier: GPL-2.0-or-later
// Repairs a truncated or damaged .kmt file: intact chunks stay, everything else goes, index and trailer are new. The
// fact `repaired` lists the dropped ranges, so that the rest is not mistaken for the whole trace.
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
  // The kept part of a CPU's ring buffer.
  struct Stream {
    unsigned cpu = 0;
    std::string buffer;  // "" is the top one
    std::uint64_t blocks = 0;
    std::uint64_t events = 0;
    std::optional<std::uint64_t> last_ns;  // of the last event
  };

  bool needed = false;
  bool readable = false;          // snapshots, or the machine's description is intact, which readers of events need
  bool has_trace = false;         // it is no file of snapshots
  bool lacked_index = false;      // the file was truncated: its last blocks may be missing
  std::vector<LeftOut> left_out;  // in the order of the file
  std::uint64_t snapshots = 0;    // that are kept
  std::vector<Stream> streams;    // by number
  std::vector<Range> kept;        // in order, never adjacent: the header and all intact chunks except an index
  std::vector<std::uint8_t> end;  // bytes to append

  // True if only the file's end is bad and can be replaced in place.
  bool only_end() const { return kept.size() == 1; }
};

// Returns the steps of a repair. Throws Error if the file's header is unreadable or no chunk is intact.
Repair plan_repair(Bytes file);

// Replaces the file's end. If interrupted at any point, the kept chunks stay readable. `size` is the file's size during
// planning. Throws Error.
void repair_in_place(const std::string& path, std::uint64_t size, const Repair& repair);
// Writes the repaired file beside `path` and renames it once it is complete and on disk; it replaces a symlink of that
// name. Throws Error.
void write_repaired(const std::string& path, Bytes file, const Repair& repair);

}  // namespace kmt::kmt_format
