// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/unreported_code.hpp"

#include <set>
#include <utility>

#include "capture/sideband/vdso.hpp"
#include "trace/code/made_code.hpp"

namespace kmt {

namespace {

constexpr unsigned kAttempts = 4;

}  // namespace

ProcessCodes read_process_code(const MappedCode& reported, const ProcessAccess& where) {
  ProcessCodes found;
  const auto known = reported.processes();
  std::vector<std::int32_t> wanted = where.processes();
  const std::set<std::int32_t> there(wanted.begin(), wanted.end());
  std::set<std::int32_t> without_code;
  for (unsigned attempt = 0; attempt < kAttempts && !wanted.empty(); ++attempt) {
    std::vector<std::pair<ProcessCode, std::uint64_t>> read;
    for (const std::int32_t process : wanted) {
      const std::uint64_t changed_ns = reported.changed_ns(process);
      const ProcessMaps maps = where.maps(process);
      read.emplace_back(ProcessCode{process, maps.task, code_in_maps(maps.text)}, changed_ns);
    }
    where.process_reports();
    wanted.clear();
    for (auto& [code, changed_ns] : read) {
      if (reported.changed_ns(code.process) != changed_ns)
        wanted.push_back(code.process);
      else if (code.lines.empty())
        without_code.insert(code.process);
      else
        found.code.push_back(std::move(code));
    }
  }
  for (const auto& [process, changed_ns] : known)
    if ((!there.contains(process) || without_code.contains(process)) && reported.changed_ns(process) == changed_ns)
      found.gone.push_back(process);
  return found;
}

SpaceChange place_of(std::int32_t process, std::uint64_t time_ns, const MapsLine& line) {
  return {.time_ns = time_ns,
          .process = process,
          .kind = SpaceChange::Kind::mapped,
          .start = line.start,
          .size = line.end - line.start,
          .file_offset = is_made(line.path)   ? line.start
                         : line.path == kVdso ? 0
                                              : line.file_offset};
}

std::string_view reported_path(std::string_view path) {
  return is_made(path) || is_made_code_map(path) ? std::string_view() : path;
}

UnreportedCode unreported_code(const MappedCode& reported, const ProcessCode& code) {
  UnreportedCode unreported;
  unreported.is_another = true;
  for (const MapsLine& line : code.lines) {
    if (!reported.has(place_of(code.process, 0, line), reported_path(line.path)))
      unreported.lines.push_back(line);
    else if (line.path.starts_with('/') && !is_made(line.path))
      unreported.is_another = false;
  }
  return unreported;
}

}  // namespace kmt
