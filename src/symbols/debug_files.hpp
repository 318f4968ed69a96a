// SPDX-License-Identifier: GPL-2.0-or-later
// Finds files with debug info in a directory, by the names that the packages of distributions give them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Returns the paths .build-id/xx/yyyy.debug in `directory` and in usr/lib/debug below it. Returns no paths if the build
// ID is empty.
std::vector<std::string> files_of_build_id(const std::string& directory, std::string_view build_id);

// Returns those of the following files that exist: vmlinux-RELEASE, boot/vmlinux-RELEASE, lib/modules/RELEASE/vmlinux,
// usr/lib/modules/RELEASE/vmlinux, and vmlinux as in the build folder of a kernel. Looks in `directory` and in
// usr/lib/debug below it.
std::vector<std::string> kernel_files(const std::string& directory, const std::string& release);

// Returns the files NAME.ko and NAME.ko.debug of modules. The key is the name of the module, which has `_` where the
// name of the file has `-`. Looks in lib/modules/RELEASE and usr/lib/modules/RELEASE, below `directory` and below its
// subdirectory usr/lib/debug.
std::multimap<std::string, std::string> module_files(const std::string& directory, const std::string& release);

}  // namespace kmt
