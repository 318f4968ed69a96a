// SPDX-License-Identifier: GPL-2.0-or-later
// The input of every reader: the bytes of a file, and the options for reading.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/file.hpp"

namespace kmt {

struct TraceFile {
  std::string path;                           // for messages, and for finding the files of a folder
  Bytes bytes;                                // empty for a folder
  std::shared_ptr<const MappedFile> mapping;  // owns `bytes`; null if the caller keeps them while the source exists
  // Why the end is missing if the bytes were unpacked; empty if they are complete.
  std::string damage = {};
};

struct OpenOptions {
  // The only buffer (instance) to read; "" is the top-level buffer; unset: read all.
  std::optional<std::string> buffer;
  std::vector<std::string> more_files;  // further relay files of the same trace, for other CPUs
  std::string abi;                      // layout of relay files, such as "v1-le"; if empty, the layout is detected
  bool one_cpu_alone = false;           // true if missing relay files of other CPUs are not reported
  bool call_records = false;            // true if the raw records of calls are kept, which the caller frees
};

}  // namespace kmt
