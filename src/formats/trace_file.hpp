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
  std::string path;                           // used in messages, and to find the files of a folder
  Bytes bytes;                                // empty for a folder
  std::shared_ptr<const MappedFile> mapping;  // owns the bytes; null if the caller keeps them while the source exists
  std::string damage = {};                    // why the end of unpacked bytes is missing; empty: they are complete
};

struct OpenOptions {
  std::optional<std::string> buffer;    // read only this buffer (instance); "" is the top-level one; unset: read all
  std::vector<std::string> more_files;  // relay files of other CPUs, of the same trace
  std::string abi;                      // layout of relay files, such as "v1-le"; empty: detect the layout
  bool one_cpu_alone = false;           // do not report missing relay files of other CPUs
  bool call_records = false;            // keep the raw records of calls; the caller frees them
};

}  // namespace kmt
