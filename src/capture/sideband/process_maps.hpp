// SPDX-License-Identifier: GPL-2.0-or-later
// Which code /proc shows in the memory of processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// A line of /proc/PID/maps (proc(5)) with the right to execute.
struct MapsLine {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string path;  // empty: of no file
};
// Those lines of the text; what is no such line is passed over.
std::vector<MapsLine> code_in_maps(std::string_view text);

// The text of /proc/PID/maps. Where the first thread has ended that is empty while others run: it is another one's
// then.
struct ProcessMaps {
  std::string text;
  std::int32_t task = 0;
};
ProcessMaps maps_of(std::int32_t process);

// Whether it is of code that programs make, which has no file.
bool is_made(std::string_view path);

std::vector<std::int32_t> processes_now();

}  // namespace kmt
