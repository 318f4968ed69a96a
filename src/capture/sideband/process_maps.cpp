// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/process_maps.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// Removes a number in this base, and the character after the number, from the text.
template <typename Number>
bool take_field(std::string_view& text, Number& number, int base, char after) {
  const auto value = take_number<Number>(text, base);
  if (!value || !text.starts_with(after)) return false;
  number = *value;
  text.remove_prefix(1);
  return true;
}

// Decodes a line break in a path as described in proc(5).
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
  if (!take_field(line, parsed.start, 16, '-') || !take_field(line, parsed.end, 16, ' ')) return std::nullopt;
  if (line.size() < 5 || line[2] != 'x' || parsed.end <= parsed.start) return std::nullopt;
  line.remove_prefix(5);
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (!take_field(line, parsed.file_offset, 16, ' ') || !take_field(line, major, 16, ':') ||
      !take_field(line, minor, 16, ' '))
    return std::nullopt;
  parsed.device = major << 32 | minor;
  const auto inode = take_number<decltype(parsed.inode)>(line);
  if (!inode) return std::nullopt;
  parsed.inode = *inode;
  std::string_view path = trim(line);
  if (constexpr std::string_view kGone = " (deleted)"; path.ends_with(kGone)) path.remove_suffix(kGone.size());
  parsed.path = unescaped(path);
  return parsed;
}

}  // namespace

// True for the paths that is_anon_memory() of tools/perf/util/map.h accepts.
bool is_made(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/dev/zero") ||
         path.starts_with("/anon_hugepage") || path.starts_with("[anon") || path.starts_with("[heap]") ||
         path.starts_with("[stack");
}

std::vector<std::int32_t> processes_now() {
  std::vector<std::int32_t> processes;
  for (const std::string& name : names_in("/proc"))
    if (const auto process = parse_number<std::int32_t>(name)) processes.push_back(*process);
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
    if (!parse_number(name, maps.task) || maps.task == process) continue;
    maps.text = try_read_file(fmt::format("{}/task/{}/maps", folder, name)).value_or("");
    if (!maps.text.empty()) break;
  }
  return maps;
}

}  // namespace kmt
