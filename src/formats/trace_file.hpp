// SPDX-License-Identifier: GPL-2.0-or-later
// What every reader is given: the bytes of a file, and how it shall be read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"
#include "base/file.hpp"

namespace kmt {

struct TraceFile {
  std::string path;                           // for messages, and of folders
  Bytes bytes;                                // empty: a folder
  std::shared_ptr<const MappedFile> mapping;  // keeps the bytes; null when they are borrowed for the source's life
};

struct OpenOptions {
  std::optional<std::string> buffer;  // of a trace with several (instances): only this one, "" the top one; else all
};

}  // namespace kmt
