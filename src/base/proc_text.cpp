// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/proc_text.hpp"

#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

// Replaces the octal sequences that the kernel writes for blanks and backslashes in a path, such as "\040".
std::string unescaped(std::string_view path) {
  std::string text;
  while (!path.empty()) {
    const auto code = path.front() == '\\' ? parse_number<unsigned char>(path.substr(1, 3), 8) : std::nullopt;
    text += code ? static_cast<char>(*code) : path.front();
    path.remove_prefix(code ? std::min<std::size_t>(path.size(), 4) : 1);
  }
  return text;
}

}  // namespace

std::optional<ProcLine> parse_proc_line(std::string_view line) {
  constexpr std::uint64_t kKb = 1024;
  Words words(line);
  std::string_view name = words.next();
  if (name.ends_with(':')) name.remove_suffix(1);
  const std::optional<std::uint64_t> value = whole_number(words.next());
  const std::string_view unit = words.next();
  const bool in_bytes = unit == "kB" || unit == "KB";
  if (name.empty() || !value || !words.empty() || (!unit.empty() && !in_bytes)) return std::nullopt;
  if (in_bytes && *value > kMostNumber / kKb) return std::nullopt;
  return ProcLine{{in_bytes ? *value * kKb : *value, in_bytes}, name};
}

std::optional<ProcValue> find_proc_value(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(name))
      if (const auto found = parse_proc_line(line); found && found->name == name) return found;
  return std::nullopt;
}

std::vector<Mount> parse_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  each_line(text, [&mounts](std::string_view line) {
    const auto fields = split(line, ' ');
    if (fields.size() > 3) mounts.push_back({unescaped(fields[1]), std::string(fields[2]), std::string(fields[3])});
  });
  return mounts;
}

std::vector<Mount> own_mounts() { return parse_mounts(try_read_file("/proc/self/mounts").value_or("")); }

// Parses /proc/modules. A line is "NAME SIZE USERS USED-BY STATE ADDRESS".
std::vector<LoadedModule> parse_modules(std::string_view text) {
  std::vector<LoadedModule> modules;
  each_line(text, [&modules](std::string_view line) {
    const auto fields = split(line, ' ');
    if (fields.size() < 6) return;
    const auto bytes = parse_number<std::uint64_t>(fields[1]);
    const std::uint64_t begin = parse_hexadecimal(fields[5]).value_or(0);
    if (bytes) modules.push_back({std::string(fields[0]), *bytes, begin, fields[4] == "Loading"});
  });
  return modules;
}

std::vector<LoadedModule> loaded_modules() { return parse_modules(try_read_file("/proc/modules").value_or("")); }

}  // namespace kmt
