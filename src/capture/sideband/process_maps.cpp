// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/process_maps.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// Takes a number of the base off the text.
template <typename Number>
bool take_number(std::string_view& text, Number& number, int base, char behind) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (code != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(1);
  return true;
}

// As proc(5) writes a line break in a path.
std::string unescaped(std::string_view path) {
  std::string text;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path.substr(at).starts_with("\\012")) {
      text += '\n';
      at += 3;
    } else {
      text += path[at];
    }
  }
  return text;
}

std::optional<MapsLine> parse_line(std::string_view line) {
  MapsLine parsed;
  if (!take_number(line, parsed.start, 16, '-') || !take_number(line, parsed.end, 16, ' ')) return std::nullopt;
  if (line.size() < 5 || line[2] != 'x' || parsed.end <= parsed.start) return std::nullopt;
  line.remove_prefix(5);
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (!take_number(line, parsed.file_offset, 16, ' ') || !take_number(line, major, 16, ':') ||
      !take_number(line, minor, 16, ' '))
    return std::nullopt;
  parsed.device = major << 32 | minor;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), parsed.inode);
  if (code != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  std::string_view path = trim(line);
  if (constexpr std::string_view kGone = " (deleted)"; path.ends_with(kGone)) path.remove_suffix(kGone.size());
  parsed.path = unescaped(path);
  return parsed;
}

}  // namespace

// As tools/perf/util/map.h has it, is_anon_memory().
bool is_made(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/dev/zero") ||
         path.starts_with("/anon_hugepage") || path.starts_with("[anon") || path.starts_with("[heap]") ||
         path.starts_with("[stack");
}

std::vector<std::int32_t> processes_now() {
  std::vector<std::int32_t> processes;
  for (const std::string& name : names_in("/proc")) {
    std::int32_t process = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (code == std::errc{} && end == name.data() + name.size()) processes.push_back(process);
  }
  return processes;
}

std::vector<MapsLine> code_in_maps(std::string_view text) {
  std::vector<MapsLine> lines;
  for (const std::string_view line : split(text, '\n'))
    if (auto parsed = parse_line(line)) lines.push_back(std::move(*parsed));
  return lines;
}

ProcessMaps maps_of(std::int32_t process) {
  const std::string folder = fmt::format("/proc/{}", process);
  ProcessMaps maps{try_read_file(folder + "/maps").value_or(""), process};
  if (!maps.text.empty()) return maps;
  for (const std::string& name : names_in(folder + "/task")) {
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), maps.task);
    if (code != std::errc{} || maps.task == process) continue;
    maps.text = try_read_file(fmt::format("{}/task/{}/maps", folder, name)).value_or("");
    if (!maps.text.empty()) break;
  }
  return maps;
}

}  // namespace kmt
