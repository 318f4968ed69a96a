// SPDX-License-Identifier: GPL-2.0-or-later
// Repairs a truncated or damaged .kmt file. Keeps intact chunks, drops everything else, and writes a new index and
// trailer. The fact `repaired` lists the dropped ranges, so that the remaining data is not mistaken for the whole
// trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt::kmt_format {

struct Repair {
  struct Range {
    std::uint64_t offset = 0;  // in the damaged file, in bytes
    std::uint64_t bytes = 0;
  };
  struct Omitted {
    Range range;
    std::string what;
  };
  // The kept data of a CPU's ring buffer.
  struct Stream {
    unsigned cpu = 0;
    std::string buffer;  // "" is the top-level buffer
    std::uint64_t blocks = 0;
    std::uint64_t events = 0;
    std::optional<std::uint64_t> last_ns;  // time of the last event
  };

  bool needed = false;
  bool readable = false;          // true if the description that events need is intact, or the file has only snapshots
  bool has_trace = false;         // false if the file has only snapshots
  bool lacked_index = false;      // true if the file had no index; its last blocks may be missing
  std::vector<Omitted> omitted;   // in file order
  std::uint64_t snapshots = 0;    // number of snapshots that the repair keeps
  std::vector<Stream> streams;    // by stream number
  std::vector<Range> kept;        // the header and all intact chunks except the index; sorted, adjacent ranges joined
  std::vector<std::uint8_t> end;  // bytes to append to the kept ranges

  // True if only the end of the file is damaged, so that repair_in_place() can repair it.
  bool only_end() const { return kept.size() == 1; }
};

// True if the fact `repaired` is empty or says only that the end of the file was missing.
bool names_only_the_end(std::string_view note);

// Plans a repair. Throws Error if the file's header is unreadable or no chunk is intact.
Repair plan_repair(Bytes file);

// Replaces the end of the file. Kept chunks stay readable even if the program is killed meanwhile. `size` is the size
// that the file had when the repair was planned. Throws Error.
void repair_in_place(const std::string& path, std::uint64_t size, const Repair& repair);
// Writes the repaired file next to `path`, and renames it after it is complete and on disk. Replaces a symlink with
// that name. Throws Error.
void write_repaired(const std::string& path, Bytes file, const Repair& repair);

}  // namespace kmt::kmt_format
