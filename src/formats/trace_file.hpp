// SPDX-License-Identifier: GPL-2.0-or-later
// What every reader is given: the bytes of a file, and how it shall be read.
#pragma once

#include <memory>
#include <string>

#include "base/byte_reader.hpp"
#include "base/file.hpp"

namespace kmt {

struct TraceFile {
  std::string path;  // for messages
  Bytes bytes;
  std::shared_ptr<const MappedFile> mapping;  // keeps the bytes; null when they are borrowed for the source's life
};

struct OpenOptions {
  std::string buffer;  // of a trace with several buffers (instances): only this one; empty: all of them
};

}  // namespace kmt
