// SPDX-License-Identifier: GPL-2.0-or-later
// Finds files with debug info below a directory, with the names that distributions' packages use.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Returns the paths .build-id/xx/yyyy.debug in `directory` itself and in its usr/lib/debug; none without a build ID.
std::vector<std::string> files_of_build_id(const std::string& directory, std::string_view build_id);

// Looks in `directory` itself and in its usr/lib/debug for vmlinux-RELEASE, boot/vmlinux-RELEASE,
// lib/modules/RELEASE/vmlinux, usr/lib/modules/RELEASE/vmlinux, and vmlinux (as in a kernel's build folder). Returns
// the files that exist.
std::vector<std::string> kernel_files(const std::string& directory, const std::string& release);

// Returns files NAME.ko and NAME.ko.debug by the module's name, which has `_` for each `-` of the file's name. Looks
// below lib/modules/RELEASE and usr/lib/modules/RELEASE, in `directory` itself and in its usr/lib/debug.
std::multimap<std::string, std::string> module_files(const std::string& directory, const std::string& release);

}  // namespace kmt
