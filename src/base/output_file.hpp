// SPDX-License-Identifier: GPL-2.0-or-later
// Opens files for writing by name. Another user may have put a symlink in place of the file. Therefore symlinks are not
// followed, except those that are names of open files, such as /dev/stdout.
#pragma once

#include <optional>
#include <string>

#include "base/file.hpp"

namespace kmt {

// Opens a file for writing. A new file is private, an existing file is emptied, and a symlink is replaced by a new
// file. Throws Error.
FileDescriptor make_file(const std::string& path);
// Returns an unpredictable name in the folder of `path`, for a file that is renamed when it is complete. Create it with
// O_EXCL, or mkdir(2).
std::string unfinished_name(const std::string& path);
// Returns the descriptor number if `path` names an open file of this process, like /dev/stdout or /dev/fd/3.
std::optional<int> open_number(const std::string& path);

}  // namespace kmt
