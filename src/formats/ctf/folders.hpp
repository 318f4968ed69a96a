// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the folders of a CTF trace. A trace is one folder with `metadata` and streams, or LTTng's tree of such folders:
// kernel/ in a session, and one folder per chunk of a rotation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "formats/ctf/first_packets.hpp"

namespace kmt::ctf {

// Name of the file that `kmemtrace convert` writes next to the trace's folder. It is a .kmt without events, and has the
// data that CTF cannot store.
inline constexpr const char* kDescriptionName = "description.kmt";

// Returns the path of a CPU's event file below the written folder. The note kStreamsNote in description.kmt has the
// size of each file, in lines "CPU BYTES".
std::string written_stream(unsigned cpu);
inline constexpr const char* kStreamsNote = "ctf_streams";

// A stream that is shorter than LTTng's index says, or whose index is unreadable.
struct DoubtedStream {
  std::string path;
  std::optional<unsigned> cpu;  // parsed from the file name
  std::string detail;
  bool is_cut_off = false;
};

// Streams that have neither an index nor a file. They existed, because a stream with the same or a higher number does.
struct MissingStreams {
  std::string first;  // path
  unsigned count = 0;
};

struct Folders {
  std::vector<std::vector<std::string>>
      traces;                         // folders grouped by trace; the folders of one trace have the same uuid
  ByteOrder byte_order = kHostOrder;  // byte order of the first trace
  std::string kallsyms;               // path of a kallsyms file next to the traces; may be empty
  std::string description;            // path of description.kmt; may be empty
  unsigned streams_of_channel = 0;    // number of streams of a channel, one per CPU; 0 if LTTng wrote no index
  std::vector<std::string> missing;   // streams that have an LTTng index but no file
  std::vector<MissingStreams> gaps;
  std::vector<DoubtedStream> doubted;  // sorted by path
  EarlierPackets earlier_packets;
};

// True if the path or a folder below it has a metadata file that starts like CTF, or that is too short to be valid.
// Never throws.
bool is_ctf(const std::string& path);
// Finds the folders of CTF traces in a path. Throws Error if the path has no trace, or the metadata is incomplete.
Folders find_folders(const std::string& path);

}  // namespace kmt::ctf
