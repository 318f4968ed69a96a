// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are written by name, where others may have put links: none is followed but to what is open.
#pragma once

#include <optional>
#include <string>

#include "base/file.hpp"

namespace kmt {

// A file to write, private if it is new: an existing one is emptied, a link is removed. Throws Error.
FileDescriptor make_file(const std::string& path);
// Returns an unguessable name beside `path`, for a file that is renamed when it is complete. Create it with O_EXCL, or
// mkdir(2).
std::string unfinished_name(const std::string& path);
// The number of a file that this process has open, where `path` names it as /dev/stdout and /dev/fd/3 do.
std::optional<int> open_number(const std::string& path);

}  // namespace kmt
