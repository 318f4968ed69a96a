// SPDX-License-Identifier: GPL-2.0-or-later
// What /proc shows of the code in processes' memory, beside what was told of it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/sideband/mapped_code.hpp"
#include "capture/sideband/process_maps.hpp"

namespace kmt {

struct ProcessCode {
  std::int32_t process = 0;
  std::int32_t task = 0;  // one of it that lives
  std::vector<MapsLine> lines;
};

struct LookAtProcesses {
  std::vector<ProcessCode> code;
  std::vector<std::int32_t> gone;  // processes that ended, and nobody told it
};

// Where to look, and what takes the news into what was told.
struct WhereToLook {
  std::function<std::vector<std::int32_t>()> processes;
  std::function<ProcessMaps(std::int32_t process)> maps;
  std::function<void()> take_news;
};

// Of processes of which nothing was told while they were looked at: what is read of one that execs may be of before or
// of after. One that never rests is left out.
LookAtProcesses look_at_processes(const MappedCode& told, const WhereToLook& where);

// A mapping as it is told and asked for, but for its object. Made code and the vDSO lie in no file.
SpaceChange place_of(std::int32_t process, std::uint64_t time_ns, const MapsLine& line);
// What MappedCode has as the path of a mapping: that of made code names the process that made it, but the children of
// that have it too.
std::string_view told_path(std::string_view path);

struct UntoldCode {
  std::vector<MapsLine> lines;
  bool is_another = false;  // none of the process' files was told: it runs another program
};

UntoldCode untold_code(const MappedCode& told, const ProcessCode& code);

}  // namespace kmt
