// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/changed_copy.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"
#include "snapshot/sources.hpp"

namespace kmt {

namespace {

// Returns the text with which the first line of each copy starts. Returns an empty text if each line of the file may
// occur several times in one copy.
std::string_view first_words(std::string_view source, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFirst = {
      {{"meminfo", "MemTotal:"},
       {"slabinfo", "slabinfo - version"},
       {"allocinfo", "allocinfo - version"},
       {"pagetypeinfo", "Page block order:"}}};
  constexpr std::array<std::string_view, 5> kByFirstLine = {"vmstat", "zoneinfo", "buddyinfo", "vmallocinfo",
                                                            "sockstat"};
  for (const auto& [name, words] : kFirst)
    if (source == name) return words;
  if (std::ranges::find(kByFirstLine, source) == kByFirstLine.end()) return {};
  const std::string_view line = text.substr(0, text.find('\n'));
  std::size_t words = line.starts_with("Node ") ? 4 : 1;  // "Node 0, zone DMA"
  Words left(line);
  while (words-- > 0) left.next();
  const std::string_view key = trim(line.substr(0, line.size() - left.rest().size()));
  // Kernels that hide addresses print the same text for the addresses in each line of vmallocinfo.
  const bool is_hidden = key.find("ptrval") != key.npos || key.find_first_not_of("0x-") == key.npos;
  return source == "vmallocinfo" && is_hidden ? std::string_view() : key;
}

std::ptrdiff_t lines_in(std::string_view text) { return std::ranges::count(text, '\n'); }

// Returns the positions of the lines that start with `key`, the first words of a copy.
std::vector<std::size_t> starts_of(std::string_view key, std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + key.size())) {
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    const std::string_view rest = text.substr(at + key.size());
    const bool ends_word =
        key.ends_with(':') || rest.empty() || std::string_view(" \t\n:").find(rest.front()) != rest.npos;
    if (begins_line && ends_word) starts.push_back(at);
  }
  return starts;
}

// The text that `grep -n`, `grep -r`, `grep ""` and `cat -n` write before a line: "/proc/meminfo:", "12:", or both.
struct LinePrefix {
  std::size_t length = 0;
  std::uint64_t number = 0;  // line number; 0: none
};

// True for the name of a kernel's file or of a log, such as "kern.log.1".
bool is_file_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kLogs = {"messages", "syslog", "dmesg", "journal"};
  const auto is_name_of = [name](const SnapshotSource& source) { return source.name == name; };
  const auto starts = [name](std::string_view log) { return name.starts_with(log); };
  return name.find('/') != name.npos || name.find(".log") != name.npos || std::ranges::any_of(kLogs, starts) ||
         std::ranges::any_of(snapshot_sources(), is_name_of);
}

LinePrefix prefix_of(std::string_view line) {
  LinePrefix prefix;
  const std::string_view name = line.substr(0, line.find_first_of(": \t"));
  if (line.substr(name.size()).starts_with(':') && is_file_name(name)) prefix.length = name.size() + 1;
  const std::size_t begin = std::min(line.find_first_not_of(' ', prefix.length), line.size());
  const std::size_t end = std::min(line.find_first_not_of("0123456789", begin), line.size());
  const auto number = parse_number<std::uint64_t>(line.substr(begin, end - begin));
  const bool is_numbered =
      number && end < line.size() && (line[end] == '\t' || (line[end] == ':' && begin == prefix.length));
  return is_numbered ? LinePrefix{end + 1, *number} : prefix;
}

}  // namespace

RepeatedCopy last_copy(std::string_view source, std::string_view text) {
  RepeatedCopy found{.text = text};
  const std::string_view key = first_words(source, text);
  if (key.empty()) return found;
  std::vector<std::size_t> starts = starts_of(key, text);
  if (starts.size() < 2 && source == "allocinfo") starts = starts_of_allocinfo(text);
  if (starts.size() < 2) return found;
  const auto copy = [&](std::size_t i) {
    return text.substr(starts[i], (i + 1 < starts.size() ? starts[i + 1] : text.size()) - starts[i]);
  };
  if (lines_in(copy(0)) < 2) return found;  // a repeated line is not a repeated file
  // the last copy may be cut off
  const std::size_t last = starts.size() - 1;
  found.number = last + (lines_in(copy(last)) + 1 < lines_in(copy(last - 1)) ? 0 : 1);
  found.copies = starts.size();
  found.text = copy(found.number - 1);
  return found;
}

std::string keep_second_state(std::string& text) {
  const auto kind_of = [](std::string_view line) {
    if (line.starts_with("@@ -")) return 'u';  // diff -u
    const std::size_t end = line.find_first_not_of("0123456789,");
    const bool is_normal = end != 0 && end != line.npos && std::string_view("acd").find(line[end]) != line.npos &&
                           line.find_first_not_of("0123456789,", end + 1) == line.npos && end + 1 < line.size();
    return is_normal ? 'n' : ' ';
  };
  char kind = ' ';
  bool has_removed = false;
  bool has_added = false;
  each_line(text, [&](std::string_view line) {
    if (kind == ' ') kind = kind_of(line);
    has_removed = has_removed || line.starts_with(kind == 'u' ? '-' : '<');
    has_added = has_added || line.starts_with(kind == 'u' ? '+' : '>');
  });
  // A diff may lack the lines that name positions, such as "@@ -1 +1 @@". It then still has a removed line of MemTotal.
  const bool is_unmarked = kind == ' ' && (text.find("\n-MemTotal:") != text.npos || text.starts_with("-MemTotal:"));
  if ((kind == ' ' || !has_removed || !has_added) && !is_unmarked) return {};
  std::string second;
  each_line(text, [&](std::string_view line) {
    if (kind == 'n') {
      if (line.starts_with("> ")) second.append(line.substr(2)).append("\n");
      return;
    }
    const bool is_title = line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("@@ ");
    if (line.starts_with('-') || is_title) return;
    if (line.starts_with('+') || line.starts_with(' ')) line.remove_prefix(1);
    second.append(line).append("\n");
  });
  text = std::move(second);
  return "the text is a diff of two states: only the second state is used, and lines that diff left out are missing";
}

bool is_utf16(std::string_view text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

void remove_editors_changes(std::string& text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  constexpr std::string_view kNonBreaking = "\xc2\xa0";
  if (is_utf16(text)) {
    text.erase(0, 2);
    std::erase(text, '\0');  // kernel files have only characters of ASCII
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  std::erase(text, '\r');
  for (std::size_t at = 0; (at = text.find(kNonBreaking, at)) != std::string::npos;) text.replace(at, 2, "  ");
}

bool has_prefixes(std::string_view text) {
  std::size_t with = 0, without = 0;
  std::uint64_t last = 0;
  each_line(text, [&](std::string_view line) {
    const LinePrefix prefix = prefix_of(line);
    // The number of a prefix rises with each line. The hour of a time such as "12:34:56" does not.
    const bool is_one = prefix.length > 0 && (prefix.number == 0 || prefix.number != last);
    last = prefix.number;
    ++(is_one ? with : without);
  });
  return with > without;
}

std::string without_prefixes(std::string_view text) {
  std::string plain;
  each_line(text, [&](std::string_view line) { plain.append(line.substr(prefix_of(line).length)).append("\n"); });
  if (!text.ends_with('\n')) plain.pop_back();  // an incomplete last line stays incomplete
  return plain;
}

std::vector<std::string> undo_changes(std::string_view source, std::string& text) {
  std::vector<std::string> notes;
  remove_editors_changes(text);
  // The lines of other texts may begin with a path or a source line, such as "mm/slub.c:12" in allocinfo.
  constexpr std::array<std::string_view, 8> kWithoutPaths = {"meminfo",   "slabinfo",    "vmstat",       "zoneinfo",
                                                             "buddyinfo", "vmallocinfo", "pagetypeinfo", "sockstat"};
  if (std::ranges::find(kWithoutPaths, source) != kWithoutPaths.end() && has_prefixes(text))
    text = without_prefixes(text);
  if (std::string note = keep_second_state(text); !note.empty()) notes.push_back(std::move(note));
  const RepeatedCopy found = last_copy(source, text);
  if (found.copies < 2) return notes;
  notes.push_back(
      fmt::format("the text has {} copies of {}: only copy {} is used", found.copies, source, found.number));
  text = std::string(found.text);
  return notes;
}

}  // namespace kmt
