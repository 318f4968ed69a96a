// SPDX-License-Identifier: GPL-2.0-or-later
// What every reader is given: the bytes of a file, and how it shall be read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/file.hpp"

namespace kmt {

struct TraceFile {
  std::string path;                           // for messages, and of folders
  Bytes bytes;                                // empty: a folder
  std::shared_ptr<const MappedFile> mapping;  // keeps the bytes; null when they are borrowed for the source's life
};

struct OpenOptions {
  std::optional<std::string> buffer;    // of a trace with several (instances): only this one, "" the top one; else all
  std::vector<std::string> more_files;  // of the same trace: relay files of other CPUs
  std::string abi;                      // of relay files: their layout, "v1-le"; empty: it is found out
  bool one_cpu_alone = false;           // of relay files: what other CPUs' files would hold is not missed
  bool call_records = false;            // keep what calls were recorded with; whoever reads has to give it back
};

}  // namespace kmt
