// SPDX-License-Identifier: GPL-2.0-or-later
// Finds a file with the types of the running kernel, for kernels that do not describe their types themselves. Checks
// that the types belong to this kernel, because wrong offsets would give wrong numbers.
#pragma once

#include <map>
#include <string>

namespace kmt {

// The running kernel, as far as it can be compared with types.
struct KernelIdentity {
  std::string distribution;                    // ID in /etc/os-release: "debian"
  std::string version;                         // VERSION_ID in /etc/os-release: "12"
  std::string machine;                         // as printed by uname -m
  std::string release;                         // as printed by uname -r
  std::string build_id;                        // in hex; empty if it is unknown
  std::string kallsyms;                        // text of /proc/kallsyms
  std::map<std::string, std::string> formats;  // key: name of an event; value: text of its format file in tracefs
};

// Reads the identity of the running kernel, except `formats`.
KernelIdentity running_kernel();

// Returns the file for this kernel in a folder: DISTRIBUTION/VERSION/ARCHITECTURE/RELEASE.btf as in BTFHub, or
// RELEASE.btf. Throws Error if there is none, or if it is still packed.
std::string find_types(const std::string& folder, const KernelIdentity& kernel);

// Returns why the types in `file` are not those of this kernel. Returns an empty text if nothing contradicts that they
// are. Throws Error if the file has no types.
std::string why_not_types_of(const KernelIdentity& kernel, const std::string& file);

}  // namespace kmt
