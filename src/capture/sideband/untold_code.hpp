// SPDX-License-Identifier: GPL-2.0-or-later
// Finds code in processes' memory that /proc shows and no event reported.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/sideband/mapped_code.hpp"
#include "capture/sideband/process_maps.hpp"

namespace kmt {

struct ProcessCode {
  std::int32_t process = 0;
  std::int32_t task = 0;  // a live one of its tasks
  std::vector<MapsLine> lines;
};

struct LookAtProcesses {
  std::vector<ProcessCode> code;
  std::vector<std::int32_t> gone;  // processes that ended without a report
};

// The places to look, and the function that takes pending reports.
struct WhereToLook {
  std::function<std::vector<std::int32_t>()> processes;
  std::function<ProcessMaps(std::int32_t process)> maps;
  std::function<void()> take_news;
};

// Looks at processes without a report during the look: maps read during an exec may be old or new. Skips a process that
// never rests.
LookAtProcesses look_at_processes(const MappedCode& told, const WhereToLook& where);

// Returns a mapping as in reports and queries, without its object. Generated code and the vDSO have no file.
SpaceChange place_of(std::int32_t process, std::uint64_t time_ns, const MapsLine& line);
// Returns MappedCode's path of a mapping: for generated code the path names the process that made it, but its children
// have that code too.
std::string_view told_path(std::string_view path);

struct UntoldCode {
  std::vector<MapsLine> lines;
  bool is_another = false;  // none of the process' files was reported: it runs another program
};

UntoldCode untold_code(const MappedCode& told, const ProcessCode& code);

}  // namespace kmt
