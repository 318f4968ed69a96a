// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace kmt {

// Makes a folder and its missing parent folders. Only the owner may access them, as with open_file() in base/file.hpp.
// Under sudo they belong to the calling user. An existing folder does not change. Throws Error.
void make_folder(const std::string& path);

// Returns the names in a folder, as names_in() (base/file.hpp) does. But if the folder exists and cannot be read,
// throws Error, because it is unknown whether the folder is empty.
std::vector<std::string> all_names_in(const std::string& path);

// Returns the paths of regular files in the folder and its subfolders, sorted. Does not follow links to folders. Throws
// Error if a folder cannot be read.
std::vector<std::string> files_below(const std::string& path);

}  // namespace kmt
