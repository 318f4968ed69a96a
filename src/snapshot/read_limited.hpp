// SPDX-License-Identifier: GPL-2.0-or-later
// Reads files and folders of the kernel, within limits of size and time.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace kmt {

struct Reading {
  std::string text;
  int error = 0;            // errno value if the source could not be read; otherwise 0
  std::string_view cut;     // why the text is incomplete; empty if it is complete
  std::size_t read = 0;     // if the source is a folder: number of files that were read
  std::size_t refused = 0;  // if the source is a folder: number of files without read permission
};

inline bool is_refusal(int error) { return error == EACCES || error == EPERM; }

constexpr std::string_view kTooSlow = "the time limit was reached";  // value of Reading::cut
constexpr std::size_t kMostOfAnAttribute = 4096;                     // bytes
constexpr std::size_t kMostDepth = 64;                               // maximum nesting depth of cgroups

// Limits for the data of one source.
struct Limits {
  std::size_t bytes;
  std::chrono::steady_clock::time_point until;
};

// Reads a regular file. All files of procfs, sysfs and debugfs are regular files. Refuses pipes and other special
// files, because reading them could block forever.
Reading read_some(const std::string& path, const Limits& limits);
// Appends all lines of the text, each with the prefix.
void append_lines(std::string_view prefix, std::string_view text, std::string& out);
// Reads /sys/kernel/slab, or a copy of it.
Reading read_attributes(const std::string& folder, const Limits& limits);
// Reads one file of each cache. Since Linux 5.16, `folder` is /sys/kernel/debug/slab, and `name` is alloc_traces or
// free_traces. Before Linux 5.16, `folder` is /sys/kernel/slab, and `name` is alloc_calls or free_calls.
Reading read_traces(const std::string& folder, std::string_view name, const Limits& limits);
// Reads the numbers of the cgroup `root` and of those below it.
Reading read_cgroups(const std::string& root, const Limits& limits, std::size_t most_depth = kMostDepth);
// Adds the number of removed memory cgroups to `cgroups`, if `root` is the topmost memory cgroup of version 1.
// `proc_cgroups` is the text of /proc/cgroups, which counts existing and removed cgroups together
// (kernel/cgroup/cgroup-v1.c, Linux 6.18). Adds nothing if the existing cgroups cannot all be counted until `until`.
void add_removed_of_v1(const std::string& root, std::string_view proc_cgroups,
                       std::chrono::steady_clock::time_point until, Reading& cgroups);

}  // namespace kmt
