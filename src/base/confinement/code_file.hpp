// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the binaries and perf-PID.map files that a trace names. Opening never blocks, and other kinds of files are
// refused.
#pragma once

#include <string>
#include <string_view>

#include "base/file.hpp"

namespace kmt {

// True for paths /tmp/perf-PID.map, see trace/code/made_code.hpp.
bool is_made_code_map(std::string_view path);

// Opens a program, library or object file (ELF), or a perf-PID.map that has no other hard link. With `root`, the path
// and its links cannot leave that folder; an empty `root` means no restriction. Returns an empty descriptor if the path
// names no such file.
FileDescriptor open_code_file(const std::string& path, const std::string& root);

}  // namespace kmt
