// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/task_names.hpp"

#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

std::optional<std::int32_t> task_id(std::string_view name) {
  std::int32_t id = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (name.empty() || code != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return id;
}

// Calls `visit(id, path)` for each directory in /proc or /proc/PID/task that is named by a number.
template <typename Visit>
void for_each_task(const fs::path& directory, Visit&& visit) {
  std::error_code code;
  for (fs::directory_iterator at(directory, code), end; !code && at != end; at.increment(code))
    if (const auto id = task_id(at->path().filename().native())) visit(*id, at->path());
}

}  // namespace

void TaskNames::add_saved(const std::string& tracefs) {
  const std::string saved = try_read_file(tracefs + "/saved_cmdlines").value_or("");
  for (const std::string_view line : split(saved, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const auto id = task_id(line.substr(0, blank));
    const std::string_view name = line.substr(blank + 1);
    if (id && name != "<...>") names_[*id] = name;
  }
}

void TaskNames::add_running() {
  for_each_task("/proc", [this](std::int32_t, const fs::path& process) {
    for_each_task(process / "task", [this](std::int32_t id, const fs::path& task) {
      if (names_.count(id) != 0) return;
      const auto name = try_read_file(task / "comm");
      if (name) names_[id] = trim(*name);
    });
  });
}

std::string TaskNames::text() const {
  std::string out;
  for (const auto& [id, name] : names_) out += fmt::format("{} {}\n", id, name);
  return out;
}

}  // namespace kmt
