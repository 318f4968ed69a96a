// SPDX-License-Identifier: GPL-2.0-or-later
// The input of every reader: the bytes of a file, and options for reading.
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
  std::shared_ptr<const MappedFile> mapping;  // keeps the bytes; null if they are borrowed for the source's life
};

struct OpenOptions {
  std::optional<std::string> buffer;    // only this buffer (instance) of the trace, "" is the top one; empty: all
  std::vector<std::string> more_files;  // of the same trace: relay files of other CPUs
  std::string abi;                      // layout of relay files, "v1-le"; empty: detect it
  bool one_cpu_alone = false;           // relay files of other CPUs are not missed
  bool call_records = false;            // keep raw records of calls; the caller gives them back
};

}  // namespace kmt
