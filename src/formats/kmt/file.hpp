// SPDX-License-Identifier: GPL-2.0-or-later
// The structure of a .kmt file: its description and where its blocks are.
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
  std::vector<std::vector<std::uint8_t>> profile;  // payloads of its chunks, where the file is a profile
  bool cut_off = false;                            // blocks may be missing behind the last one
};

bool is_kmt(Bytes file);
// Throws Error when the file, which is one, is of a version this build cannot read.
void check_header(Bytes file);
// Whether the file ends in a trailer, be it right or wrong.
bool has_trailer(Bytes file);

// Throws Error when the file is of a version this build cannot read; damage becomes findings, what is intact is kept.
FileContents parse_file(Bytes file, Findings& findings);
// The same of a file that has to be a trace.
FileContents parse_trace(Bytes file, Findings& findings);

}  // namespace kmt::kmt_format
