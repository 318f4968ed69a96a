// SPDX-License-Identifier: GPL-2.0-or-later
// Opens files of code that a trace names. Whatever it names, this waits for nothing and opens no other kind of file.
#pragma once

#include <string>
#include <string_view>

#include "base/file.hpp"

namespace kmt {

// True for /tmp/perf-PID.map, see trace/code/made_code.hpp.
bool is_made_code_map(std::string_view path);

// For openat2(2) and its like: the flags, and the check of what was opened. Empty: it is no regular file.
extern const int kOpenCode;
FileDescriptor only_regular(int fd);

// An ELF file, or a map of made code that is no link. Empty: the path names no such file.
FileDescriptor open_code_file(const std::string& path);

}  // namespace kmt
