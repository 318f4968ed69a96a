// SPDX-License-Identifier: GPL-2.0-or-later
// Reads from /proc the code that is mapped into processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// A line about an executable mapping in /proc/PID/maps (proc(5)).
struct MapsLine {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string path;  // empty if no file is mapped
};
// Ignores lines about other mappings.
std::vector<MapsLine> code_in_maps(std::string_view text);

// The text of /proc/PID/maps. After the first thread of a process has ended, its file is empty even if other threads
// run. In that case, the text is from another thread.
struct ProcessMaps {
  std::string text;
  std::int32_t task = 0;
};
ProcessMaps maps_of(std::int32_t process);

// True for code that programs generate. Such code has no file.
bool is_made(std::string_view path);

std::vector<std::int32_t> processes_now();

}  // namespace kmt
