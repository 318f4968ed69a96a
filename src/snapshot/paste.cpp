// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/paste.hpp"

#include <algorithm>
#include <array>

#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

bool is_number(std::string_view word) { return whole_number(word).has_value(); }

bool has(std::string_view line, std::string_view words) { return line.find(words) != line.npos; }

// True for "==> /proc/vmstat <==", "root@host:~# cat /proc/vmstat" and similar lines between files.
bool is_title(std::string_view line) { return has(line, "/proc/") || has(line, "/sys/") || line.starts_with("==> "); }

// True for a line "NAME NUMBER" of vmstat. The first line of a copy has a name that begins with "nr_".
bool is_vmstat(std::string_view line, std::string_view file) {
  Words words(line);
  const std::string_view name = words.next();
  const bool is_pair = is_number(words.next()) && words.empty();
  return is_pair && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos &&
         (file == "vmstat" || name.starts_with("nr_"));
}

// Returns the file that has lines such as "Node 0, zone DMA". buddyinfo and the second table of pagetypeinfo have lines
// with numbers after the name of the zone: one for each order, or one for each migrate type.
std::string_view file_of_zone(std::string_view line, std::string_view file) {
  constexpr std::size_t kMostTypes = 8;
  Words words(line);
  for (int i = 0; i < 4; ++i) words.next();
  if (words.empty()) return "zoneinfo";
  std::size_t numbers = 0;
  for (; !words.empty() && is_number(words.next()); ++numbers) {
  }
  return numbers == 0 || (file == "pagetypeinfo" && numbers <= kMostTypes) ? "pagetypeinfo" : "buddyinfo";
}

bool is_sockstat(std::string_view line) {
  constexpr std::array<std::string_view, 6> kProtocols = {"sockets:", "TCP:", "UDP:", "UDPLITE:", "RAW:", "FRAG:"};
  Words words(line);
  return std::ranges::find(kProtocols, words.next()) != kProtocols.end() && !words.empty() && !is_number(words.next());
}

bool is_pagetypeinfo(std::string_view line) {
  constexpr std::array<std::string_view, 4> kTitles = {"Page block order:", "Pages per block:", "Free pages count per",
                                                       "Number of blocks type"};
  return std::ranges::any_of(kTitles, [line](std::string_view title) { return line.starts_with(title); });
}

// True for "MemTotal: 16 kB", and for "MemTotal 16" after awk removed other words.
bool is_first_of_meminfo(std::string_view line) {
  Words words(line);
  const std::string_view name = words.next();
  return (name == "MemTotal:" || name == "MemTotal") && is_number(words.next());
}

// True for the output of `uname -a`, or a line of /proc/version.
bool is_uname(std::string_view line) {
  Words words(line);
  if (words.next() != "Linux") return false;
  words.next();
  return !words.empty() && is_digit(words.next().front());
}

// Returns the line with one blank in place of several. A blank at its start stays.
std::string with_single_blanks(std::string_view line) {
  std::string text = line.starts_with(' ') || line.starts_with('\t') ? " " : "";
  for (Words words(line); !words.empty();) text.append(words.next()).append(words.empty() ? "" : " ");
  return text;
}

// Returns the blanks or the tab with which each line of the text starts, as in quotations of Markdown.
std::string_view indentation_of(std::string_view text) {
  const std::size_t at = text.find("MemTotal");
  const std::string_view begin = text.substr(0, at).substr(text.substr(0, at).rfind('\n') + 1);
  return trim(begin).empty() ? begin : std::string_view();
}

// Returns the file to which the line belongs. `file` is the file of the previous line. Returns an empty name for lines
// that belong to no file.
std::string_view file_of(std::string_view line, std::string_view file) {
  if (is_first_of_meminfo(trim(line))) return "meminfo";
  if (line.starts_with("slabinfo - version") || (line.starts_with('#') && has(line, " name ")) ||
      has(line, ": tunables ") || has(line, ": slabdata "))
    return "slabinfo";
  if (line.starts_with("allocinfo - version") || has(line, " func:")) return "allocinfo";
  if (line.starts_with("Node ") && has(line, ", zone ")) return file_of_zone(line, file);
  if (line.starts_with("0x") && has(line.substr(0, line.find(' ')), "-0x")) return "vmallocinfo";
  if (is_uname(line)) return "uname";
  if (is_sockstat(line)) return "sockstat";
  if (is_pagetypeinfo(line)) return "pagetypeinfo";
  if (file == "zoneinfo" && line.starts_with(' ')) return file;
  if (is_vmstat(line, file)) return "vmstat";
  if (is_title(line)) return {};
  if (parse_proc_line(line) && Words(line).next().ends_with(':')) return "meminfo";
  return trim(line).empty() ? std::string_view() : file;  // the parser of the file reports an unknown line
}

}  // namespace

bool has_meminfo(std::string_view text) {
  constexpr std::string_view kFirst = "MemTotal";
  for (std::size_t at = text.find(kFirst); at != text.npos;) {
    const std::size_t begin = text.substr(0, at).rfind('\n') + 1;  // if nothing is found, npos + 1 is 0
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_first_of_meminfo(trim(without_quotes(trim(text.substr(begin, end - begin)))))) return true;
    at = text.find(kFirst, end);
  }
  return false;
}

std::vector<std::pair<std::string_view, std::string>> files_in_paste(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string>> files;
  std::string_view file;
  std::size_t last = 0;  // index in `files` of the file to which the previous line belongs
  const std::string_view indentation = indentation_of(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view written = text.substr(0, end);
    text.remove_prefix(end);
    std::string_view line = written;
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).starts_with('>')) line = without_quotes(trim(line));
    if (line.starts_with(indentation)) line.remove_prefix(indentation.size());
    if (trim(line).starts_with("```")) continue;  // Markdown
    const std::string_view now = file_of(with_single_blanks(line), file);
    if (now != file && !now.empty()) {
      const auto found = std::ranges::find(files, now, [](const auto& known) { return known.first; });
      last = static_cast<std::size_t>(found - files.begin());
      if (found == files.end()) files.emplace_back(now, "");
    }
    file = now;
    if (!now.empty()) files[last].second.append(line).append(written.ends_with('\n') ? "\n" : "");
  }
  return files;
}

}  // namespace kmt
