// SPDX-License-Identifier: GPL-2.0-or-later
// The structure of a .kmt file: its description and the places of its blocks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "formats/kmt/chunk.hpp"
#include "formats/kmt/description.hpp"
#include "trace/imperfections.hpp"

namespace kmt::kmt_format {

struct StreamBlocks {
  RecordStream stream;
  std::vector<Chunk> blocks;  // in the order of the file
};

struct FileContents {
  TraceDescription description;
  std::map<std::uint16_t, StreamBlocks> streams;   // by number
  std::vector<std::vector<std::uint8_t>> profile;  // payloads of its chunks, if the file is a profile
  bool cut_off = false;                            // later blocks may be missing
};

bool is_kmt(Bytes file);
enum class Content { unknown, trace, snapshots, profile };
// Looks at the headers of chunks only.
Content content_of(Bytes file);
// Throws Error if this build cannot read the version of the .kmt file.
void check_header(Bytes file);
// True if the file ends in a trailer, right or wrong.
bool has_trailer(Bytes file);

// Keeps intact parts; damage becomes findings. Throws Error if this build cannot read the file's version.
FileContents parse_file(Bytes file, Findings& findings);
// The same for a file that must be a trace.
FileContents parse_trace(Bytes file, Findings& findings);

}  // namespace kmt::kmt_format
