// SPDX-License-Identifier: GPL-2.0-or-later
// The files in which programs that make code say how it is called: /tmp/perf-PID.map
// (tools/perf/Documentation/jit-interface.txt). Anybody may put a file there, or a link to one that is not his.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <sys/types.h>

#include "base/confinement/code_file.hpp"
#include "base/file.hpp"

namespace kmt {

std::string made_code_map_path(std::int32_t process);

// A regular file of one of these users, under one name only (no link, no pipe).
FileDescriptor open_made_code_map(const std::string& path, std::initializer_list<uid_t> owners);
// Its text, as far as anybody could read it.
std::string read_made_code_map(const FileDescriptor& file);

}  // namespace kmt
