// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the binaries and perf-PID.map files that a trace names. Opening never blocks, and other kinds of files are
// refused.
#pragma once

#include <string>
#include <string_view>

#include "base/file.hpp"

namespace kmt {

// True if the path is /tmp/perf-PID.map, in which a program lists its JIT functions (trace/code/made_code.hpp).
bool is_made_code_map(std::string_view path);

// Opens a program, library or object file (ELF), or a perf-PID.map that has no other hard link. Returns an empty
// descriptor for any other file. If `root` is not empty, the path and the symlinks in it cannot leave the folder
// `root`.
FileDescriptor open_code_file(const std::string& path, const std::string& root);

}  // namespace kmt
