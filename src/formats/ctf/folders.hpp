// SPDX-License-Identifier: GPL-2.0-or-later
// The folders of a CTF trace: one with a `metadata` file and the streams, or a tree of such as LTTng writes it, with
// kernel/ below a session and a folder a chunk where it was rotated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/endian.hpp"

namespace kmt::ctf {

// The name of what convert writes beside the trace's folder: what CTF has no place for, as a .kmt without events.
inline constexpr const char* kDescriptionName = "description.kmt";

// Below that folder, the events of one CPU; and the note of description.kmt that has the lines "CPU BYTES" of all.
std::string written_stream(unsigned cpu);
inline constexpr const char* kStreamsNote = "ctf_streams";

// A stream that is shorter than its index says, or the index of which cannot be read.
struct DoubtedStream {
  std::string path;
  std::optional<unsigned> cpu;  // by the name
  std::string detail;
  bool is_cut_off = false;
};

struct Folders {
  std::vector<std::vector<std::string>> traces;  // the folders of each trace: those with the same uuid
  ByteOrder byte_order = kHostOrder;             // of the first trace
  std::string kallsyms;                          // path of such a file beside them; empty: there is none
  std::string description;                       // path of description.kmt
  unsigned streams_of_channel = 0;               // one a CPU; 0: LTTng's index does not tell
  std::vector<std::string> missing;              // streams of which only LTTng's index is left
  std::vector<DoubtedStream> doubted;            // by path
};

// Whether the path is such a folder, by the first bytes of the metadata files below it, or one that is empty. Never
// throws.
bool is_ctf(const std::string& path);
// Throws Error when there is none, or its metadata is not all there.
Folders find_folders(const std::string& path);

}  // namespace kmt::ctf
