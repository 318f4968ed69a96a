// SPDX-License-Identifier: GPL-2.0-or-later
// Finds code that /proc shows in processes' memory, but that no event has reported.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/sideband/mapped_code.hpp"
#include "capture/sideband/process_maps.hpp"

namespace kmt {

struct ProcessCode {
  std::int32_t process = 0;
  std::int32_t task = 0;  // a live task of the process
  std::vector<MapsLine> lines;
};

struct ProcessCodes {
  std::vector<ProcessCode> code;
  std::vector<std::int32_t> gone;  // processes that ended, but whose end was not reported
};

// The functions to list processes, to read their maps, and to process pending reports.
struct ProcessAccess {
  std::function<std::vector<std::int32_t>()> processes;
  std::function<ProcessMaps(std::int32_t process)> maps;
  std::function<void()> process_reports;
};

// Reads the code of processes. Maps that are read during an exec may be from before or after it. So if events report
// changes of a process while its maps are read, tries this process again later. Gives up after some attempts.
ProcessCodes read_process_code(const MappedCode& reported, const ProcessAccess& where);

// Returns the mapping as a SpaceChange, like the kernel's reports, but without its object. Generated code and the vDSO
// have no file, so the file offset is the start address or 0.
SpaceChange place_of(std::int32_t process, std::uint64_t time_ns, const MapsLine& line);
// Returns the path of a mapping as MappedCode uses it; empty for generated code. The path of generated code names the
// process that generated it, but children of that process have the code as well.
std::string_view reported_path(std::string_view path);

struct UnreportedCode {
  std::vector<MapsLine> lines;
  // True if no file of the process was reported, so it runs another program than the reported one.
  bool is_another = false;
};

UnreportedCode unreported_code(const MappedCode& reported, const ProcessCode& code);

}  // namespace kmt
