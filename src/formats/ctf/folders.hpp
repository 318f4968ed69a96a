// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the folders of a CTF trace. A trace is one folder with `metadata` and streams, or LTTng's tree of such folders:
// kernel/ in a session, and one folder per chunk of a rotation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/endian.hpp"

namespace kmt::ctf {

// The convert command writes this file next to the trace's folder. The file is a .kmt without events, for data that CTF
// cannot store.
inline constexpr const char* kDescriptionName = "description.kmt";

// Returns the path of a CPU's event file below the written folder. The note kStreamsNote in description.kmt has lines
// "CPU BYTES".
std::string written_stream(unsigned cpu);
inline constexpr const char* kStreamsNote = "ctf_streams";

// A stream that is shorter than its index states, or whose index is unreadable.
struct DoubtedStream {
  std::string path;
  std::optional<unsigned> cpu;  // parsed from the file name
  std::string detail;
  bool is_cut_off = false;
};

struct Folders {
  std::vector<std::vector<std::string>>
      traces;                          // folders grouped by trace; the folders of one trace have the same uuid
  ByteOrder byte_order = kHostOrder;   // byte order of the first trace
  std::string kallsyms;                // path of a kallsyms file next to the traces; may be empty
  std::string description;             // path of description.kmt; may be empty
  unsigned streams_of_channel = 0;     // one stream per CPU; 0 if LTTng has no index
  std::vector<std::string> missing;    // streams with an LTTng index but no stream file
  std::vector<DoubtedStream> doubted;  // sorted by path
};

// True if a metadata file in or below the path starts like CTF, or is too short to be valid. Never throws.
bool is_ctf(const std::string& path);
// Finds the folders of CTF traces in a path. Throws Error if the path has no trace, or the metadata is incomplete.
Folders find_folders(const std::string& path);

}  // namespace kmt::ctf
