// SPDX-License-Identifier: GPL-2.0-or-later
// The folders of a CTF trace: one with a `metadata` file and the streams, or LTTng's tree of such folders, with
// kernel/ below a session and a folder for each chunk of a rotation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/endian.hpp"

namespace kmt::ctf {

// The file that convert writes beside the trace's folder: a .kmt without events, for data that CTF has no place for.
inline constexpr const char* kDescriptionName = "description.kmt";

// The path of a CPU's events below that folder, and the note of description.kmt with lines "CPU BYTES".
std::string written_stream(unsigned cpu);
inline constexpr const char* kStreamsNote = "ctf_streams";

// A stream that is shorter than its index says, or has an unreadable index.
struct DoubtedStream {
  std::string path;
  std::optional<unsigned> cpu;  // from the name
  std::string detail;
  bool is_cut_off = false;
};

struct Folders {
  std::vector<std::vector<std::string>> traces;  // the folders of each trace: those with the same uuid
  ByteOrder byte_order = kHostOrder;             // of the first trace
  std::string kallsyms;                          // path of such a file beside them; may be empty
  std::string description;                       // path of description.kmt
  unsigned streams_of_channel = 0;               // one per CPU; 0: LTTng's index does not say
  std::vector<std::string> missing;              // streams with only LTTng's index left
  std::vector<DoubtedStream> doubted;            // by path
};

// True if the first bytes of metadata files below the path are CTF's, or such a file is empty. Never throws.
bool is_ctf(const std::string& path);
// Throws Error if there is none, or its metadata is incomplete.
Folders find_folders(const std::string& path);

}  // namespace kmt::ctf
