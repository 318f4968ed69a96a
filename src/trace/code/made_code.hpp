// SPDX-License-Identifier: GPL-2.0-or-later
// Reads files in which programs that generate code (JIT compilers) list their functions: /tmp/perf-PID.map. The format
// is described in tools/perf/Documentation/jit-interface.txt. Such a file is not trustworthy: anyone can create it, or
// create a link to another user's file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <sys/types.h>

#include "base/confinement/code_file.hpp"
#include "base/file.hpp"

namespace kmt {

std::string made_code_map_path(std::int32_t process);

// Opens a regular file that belongs to one of these users and has no other hard link. Refuses symlinks and pipes.
FileDescriptor open_made_code_map(const std::string& path, std::initializer_list<uid_t> owners);
// Returns the text of the file. Only about the first 16 MiB are read.
std::string read_made_code_map(const FileDescriptor& file);

}  // namespace kmt
