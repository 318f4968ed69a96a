// SPDX-License-Identifier: GPL-2.0-or-later
// Opens files of code that a trace names. Whatever it names, this waits for nothing and opens no other kind of file.
#pragma once

#include <string>
#include <string_view>

#include "base/file.hpp"

namespace kmt {

// True for /tmp/perf-PID.map, see trace/code/made_code.hpp.
bool is_made_code_map(std::string_view path);

// A program, library or object file (ELF), or a map of made code under one name only. `root`: whatever the path and the
// links in it say, it does not leave this folder; empty: it may lead anywhere. Empty: the path names no such file.
FileDescriptor open_code_file(const std::string& path, const std::string& root);

}  // namespace kmt
