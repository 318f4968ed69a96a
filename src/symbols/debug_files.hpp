// SPDX-License-Identifier: GPL-2.0-or-later
// Places of files with debug info below a directory, as in packages of distributions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// DIR/.build-id/xx/yyyy.debug, in `directory` itself and in its usr/lib/debug; none without a build-id.
std::vector<std::string> files_of_build_id(const std::string& directory, std::string_view build_id);

// vmlinux-RELEASE, boot/vmlinux-RELEASE, lib/modules/RELEASE/vmlinux, usr/lib/modules/RELEASE/vmlinux, and vmlinux, the
// one of a kernel's build folder: in `directory` itself and in its usr/lib/debug. Only those that exist.
std::vector<std::string> kernel_files(const std::string& directory, const std::string& release);

// Files NAME.ko and NAME.ko.debug anywhere below lib/modules/RELEASE and usr/lib/modules/RELEASE, by the module's name
// (in which every `-` of the file's is a `_`), in `directory` itself and in its usr/lib/debug.
std::multimap<std::string, std::string> module_files(const std::string& directory, const std::string& release);

}  // namespace kmt
