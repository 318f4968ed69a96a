// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace kmt {

// Makes a folder, with those above it that are missing, for its owner alone, as open_file() (base/file.hpp) does with
// files; under sudo they belong to the calling user. An existing one stays as it is. Throws Error.
void make_folder(const std::string& path);

// As names_in() (base/file.hpp), but throws Error for an existing folder that cannot be read, which is not empty.
std::vector<std::string> all_names_in(const std::string& path);

// The paths of the regular files in the folder and those below it, sorted; links to folders are not followed. Throws
// Error for a folder that cannot be read.
std::vector<std::string> files_below(const std::string& path);

}  // namespace kmt
