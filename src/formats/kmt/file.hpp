// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the structure of a .kmt file: its description and the positions of its blocks.
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
  std::map<std::uint16_t, StreamBlocks> streams;   // by stream number
  std::vector<std::vector<std::uint8_t>> profile;  // payloads of profile chunks; empty unless the file is a profile
  bool cut_off = false;                            // true if blocks may be missing at the end of the file
};

bool is_kmt(Bytes file);
enum class Content { unknown, trace, snapshots, profile };
// Determines the content only from the headers of the chunks.
Content content_of(Bytes file);
// Throws Error if this build cannot read the version of the .kmt file.
void check_header(Bytes file);
// True if the file ends with a trailer, whose contents may be wrong.
bool has_trailer(Bytes file);

// Reads all intact chunks. Damage becomes findings. Throws Error if this build cannot read the file's version.
FileContents parse_file(Bytes file, Findings& findings);
// Does the same as parse_file(), but also throws Error if the file is not a trace.
FileContents parse_trace(Bytes file, Findings& findings);

}  // namespace kmt::kmt_format
