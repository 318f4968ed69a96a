// SPDX-License-Identifier: GPL-2.0-or-later
// Parses /proc/allocinfo, even if the text was changed by programs such as numfmt, column, sort and awk.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

struct Amount {
  double value = 0;
  bool rounded = false;
  bool has_unit = false;
};

// How programs have changed the text. The default values are those of an unchanged text.
struct Format {
  double unit = 1024;            // K, M and G are powers of this number
  bool calls_first = false;      // true: the number of calls is before the size
  bool numbered = false;         // true: each line starts with its number
  bool ambiguous = false;        // true: K, M or G may be powers of 1000 or of 1024
  char decimal_point = '.';      // the other one of '.' and ',' separates thousands
  std::uint64_t title_unit = 1;  // bytes; the unit of sizes according to the title of their column
};

// Returns the length of a line's number as written by `cat -n` or `grep -n`: "   12" or "12:". 0 if there is none.
std::size_t length_of_number(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t end = std::min(line.find_first_not_of("0123456789", begin), line.size());
  if (end == begin || end == line.size()) return 0;
  return line[end] == ':' ? end + 1 : line[end] == ' ' || line[end] == '\t' ? end : 0;
}

// Returns the line without the marks of quoted mail, its number, and a carriage return.
std::string_view plain_line(std::string_view line, const Format& format) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  line = without_quotes(line);
  return format.numbered ? line.substr(length_of_number(line)) : line;
}

// Returns the factor of a unit such as "K", "Ki", "KiB" or "kB". `numfmt --to=si` writes "k" for 1000, and then "M" for
// 1000 * 1000.
std::optional<double> unit_factor(std::string_view unit, const Format& format) {
  if (unit == "B") return 1;
  if (unit.empty()) return std::nullopt;
  constexpr std::string_view kPrefixes = "KMGTPE";
  if (unit.front() == 'k') return unit == "k" || unit == "kB" ? std::optional(1000.0) : std::nullopt;
  const std::size_t power = kPrefixes.find(unit.front());
  const std::string_view rest = unit.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "i" && rest != "iB" && rest != "B"))
    return std::nullopt;
  return std::pow(rest.starts_with('i') ? 1024.0 : format.unit, static_cast<double>(power + 1));
}

// Parses "25165824", "25,165,824", "2.8M" or "1.20MiB". Returns nothing if the word is not a number.
std::optional<Amount> amount_of(std::string_view word, const Format& format) {
  std::string digits;
  std::size_t at = 0;
  for (; at < word.size() && (word[at] == '.' || word[at] == ',' || is_digit(word[at])); ++at) {
    if (is_digit(word[at])) digits += word[at];
    if (word[at] == format.decimal_point) digits += '.';
  }
  if (digits.empty()) return std::nullopt;
  const std::string_view unit = word.substr(at);
  const bool is_whole = digits.find('.') == std::string::npos;
  const auto factor = unit.empty() ? std::optional(1.0) : unit_factor(unit, format);
  const double value = std::strtod(digits.c_str(), nullptr);
  if (!factor || value * *factor > static_cast<double>(kMostNumber)) return std::nullopt;
  return Amount{value * *factor, !is_whole || *factor != 1, !unit.empty()};
}

// True for "mm/slub.c:2367", but not for a time such as "17:30:37".
bool is_place(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  return colon != std::string_view::npos && word.substr(0, colon).find('.') < colon && !word.starts_with("func:") &&
         whole_number(word.substr(colon + 1)).has_value();
}

// True for an empty line, and for the two header lines "allocinfo - version: 1.0" and "# <size> <calls> <tag info>".
// `column -t` may have changed their blanks.
bool is_header(std::string_view line) {
  Words words(line);
  const std::string_view first = words.next();
  const bool is_comment = first.starts_with('#') && line.find(" func:") == line.npos;
  return first.empty() || is_comment || first == "Memory" ||
         (first == "allocinfo" && words.next() == "-" && words.next() == "version:");
}

// Returns the character that separates the values of a line like "4096,1,mm/slub.c:2367 func:x". The values may be in
// quotation marks. Returns a blank for other lines.
char separator_of(std::string_view line) {
  const std::string_view first = Words(line).next();
  const std::size_t place = first.find_first_of("/abcdefghijklmnopqrstuvwxyz");
  for (const char separator : {';', ','}) {
    const std::size_t at = first.find(separator);
    if (at != first.npos && (first.starts_with('"') || at < place) && place != first.npos) return separator;
    if (at != first.npos && line.find_first_of(" \t") == line.npos) return separator;
  }
  return ' ';
}

std::optional<AllocationSite> site_of(std::string_view line, const Format& format = {}) {
  AllocationSite site;
  // Returns nothing for a line of JSON, or for several lines that were joined into one.
  const std::size_t function_at = line.find("func:");
  if (function_at != line.npos && line.find("func:", function_at + 1) != line.npos) return std::nullopt;
  if (line.find("\":") != line.npos) return std::nullopt;
  std::string with_blanks;  // the line with blanks instead of separators, if its values are separated by commas
  if (const char separator = separator_of(line); separator != ' ') {
    with_blanks = line;
    std::ranges::replace(with_blanks, separator, ' ');
    std::ranges::replace(with_blanks, '"', ' ');
    line = with_blanks;
  }
  std::string function;
  std::array<std::optional<Amount>, 2> numbers;  // bytes and calls
  std::size_t count = 0;
  // true: there is a third number before "FILE:LINE", because the text has another column, such as that of `cat -n`
  bool has_more = false;
  for (Words words(line); !words.empty();) {
    const std::string_view word = words.next();
    const auto amount = count < numbers.size() ? amount_of(word, format) : std::nullopt;
    const auto unit = unit_factor(word, format);
    if (amount) {
      numbers[count++] = amount;
    } else if (unit && count != 0 && !numbers[count - 1]->has_unit) {  // "1.20 MiB"
      numbers[count - 1] = Amount{numbers[count - 1]->value * *unit, *unit != 1, true};
    } else if (site.name.empty() && is_place(word)) {
      site.name = word;
    } else if (word.starts_with("func:") && function.empty()) {
      function = word.substr(5);
    } else if (word.starts_with('[') && word.ends_with(']') && word.size() > 2) {
      site.of = word.substr(1, word.size() - 2);
    } else if (word != "|") {
      has_more = has_more || (site.name.empty() && amount_of(word, format).has_value());
      // "accurate:no" means that the kernel could not count all allocations
      site.approximate = site.approximate || word == "accurate:no";
      site.others.append(site.others.empty() ? "" : " ").append(word);
    }
  }
  // A fraction without a unit is a size in a unit that the text does not state.
  const auto has_unknown_unit = [](const std::optional<Amount>& one) { return one && one->rounded && !one->has_unit; };
  if (std::ranges::any_of(numbers, has_unknown_unit)) return std::nullopt;
  if (count != numbers.size() || has_more || site.name.empty() ||
      numbers[0]->value > static_cast<double>(kMostNumber) || numbers[1]->value > static_cast<double>(kMostNumber))
    return std::nullopt;
  if (!function.empty()) site.name.append(" ").append(function);
  if (format.calls_first) std::swap(numbers[0], numbers[1]);
  site.bytes = static_cast<std::uint64_t>(numbers[0]->value);
  if (!numbers[0]->has_unit) site.bytes = std::min(site.bytes, kMostNumber / format.title_unit) * format.title_unit;
  site.count = static_cast<std::uint64_t>(numbers[1]->value);
  site.approximate = site.approximate || numbers[0]->rounded || numbers[1]->rounded;
  return site;
}

// True if each line starts with its line number, followed by all other columns.
bool is_numbered(std::string_view text) {
  constexpr std::size_t kFewest = 2;
  std::size_t lines = 0;
  std::size_t sites = 0;
  std::uint64_t last = 0;
  bool is_each = true;
  each_line(text, [&](std::string_view line) {
    line = plain_line(line, {});
    if (trim(line).empty() || !is_each) return;
    const std::size_t length = length_of_number(line);
    const auto number = leading_number(trim(line.substr(0, length)));
    // `grep -n` writes ":" after the number, and its output may lack lines
    const bool may_skip = length != 0 && line[length - 1] == ':';
    is_each = number && (lines == 0 || (may_skip ? *number > last : *number == last + 1));
    last = number.value_or(0);
    ++lines;
    if (site_of(line.substr(length))) ++sites;
  });
  return is_each && lines >= kFewest && sites != 0;
}

// True for "1,5M", "0,25" and "268.435.456": the comma is the decimal point, as in many languages. "1,234" is
// ambiguous, and counts as 1234.
bool has_decimal_comma(std::string_view word) {
  constexpr std::size_t kGroup = 3;
  const std::size_t end = std::min(word.find_first_not_of("0123456789.,"), word.size());
  const std::string_view number = word.substr(0, end);
  const std::size_t comma = number.rfind(',');
  if (comma != number.npos)
    return comma != 0 && number.find(',') == comma && number.size() - comma - 1 != kGroup && comma + 1 < number.size();
  const std::size_t dot = number.find('.');
  return dot != number.npos && dot != 0 && number.find('.', dot + 1) == dot + kGroup + 1;
}

// True for "12M", "1.2G" and "12KB", but not for "12Mi", "12k" and "12B". numfmt --to=si and --to=iec both write "M",
// and before coreutils 9.5 also "K".
bool has_ambiguous_unit(std::string_view word) {
  const std::size_t unit = std::min(word.find_first_not_of("0123456789.,"), word.size());
  if (unit == 0 || unit == word.size() || std::string_view("KMGTPE").find(word[unit]) == std::string_view::npos)
    return false;
  return unit + 1 == word.size() || word.substr(unit + 1) == "B";
}

// Returns the unit in a title such as "# size(kB) calls", in bytes. Returns 1 if the line names no unit, or has a site.
std::uint64_t unit_in_title(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 5> kUnits = {
      {{"kB", 1 << 10}, {"KB", 1 << 10}, {"KiB", 1 << 10}, {"MB", 1 << 20}, {"MiB", 1 << 20}}};
  if (line.find("func:") != line.npos || line.find("size") == line.npos) return 1;
  for (const auto& [name, bytes] : kUnits)
    if (line.find(name) != line.npos) return bytes;
  return 1;
}

// Determines the format from all lines. An allocation has at least one byte, so the column with the larger numbers has
// the sizes.
Format format_of(std::string_view text) {
  Format format;
  format.numbered = is_numbered(text);
  std::size_t sizes_first = 0;
  std::size_t calls_first = 0;
  each_line(text, [&](std::string_view line) {
    line = plain_line(line, format);
    format.title_unit = std::max(format.title_unit, unit_in_title(line));
    if (is_header(line)) return;
    for (Words words(line); !words.empty();) {
      const std::string_view word = words.next();
      format.ambiguous = format.ambiguous || has_ambiguous_unit(word);
      if (has_decimal_comma(word)) format.decimal_point = ',';
      if (word.ends_with('k') && amount_of(word, {})) format.unit = 1000;
    }
    const auto site = site_of(line, format);
    if (!site) return;
    if (site->bytes > site->count) ++sizes_first;
    if (site->bytes < site->count) ++calls_first;
  });
  format.calls_first = calls_first > sizes_first;
  if (format.unit == 1000) format.ambiguous = false;
  return format;
}

struct SiteLine {
  std::size_t begin = 0;      // position in the text
  std::size_t separator = 0;  // end of the last line before it that has no site, such as a title
  std::size_t site = 0;       // number of the site
};
struct SiteLines {
  std::vector<SiteLine> lines;    // all lines with a site, except sites in header files
  std::vector<std::size_t> last;  // for each site: index of its last line
};

SiteLines site_lines(std::string_view text) {
  SiteLines found;
  std::unordered_map<std::string, std::size_t> sites;
  const Format format = format_of(text);
  std::size_t separator = 0;
  std::size_t begin = 0;
  each_line(text, [&](std::string_view line) {
    const std::size_t next = begin + line.size() + 1;
    const auto site = site_of(plain_line(line, format), format);
    if (!site) separator = next;
    if (site && site->name.find(".h:") == site->name.npos) {
      const std::size_t number = sites.try_emplace(site->of + ' ' + site->name, sites.size()).first->second;
      found.last.resize(sites.size());
      found.last[number] = found.lines.size();
      found.lines.push_back({begin, separator, number});
    }
    begin = next;
  });
  return found;
}

// True if a new copy starts at or shortly before line `i`, because this line and most of the next ones repeat sites of
// the current copy. Two adjacent lines with the same site start no copy: they are two allocations on one source line.
bool repeats_sites(const SiteLines& lines, std::size_t i, std::size_t first, const std::vector<std::size_t>& seen_in,
                   std::size_t copy) {
  constexpr std::size_t kNext = 8;
  constexpr std::ptrdiff_t kEnough = 2;
  const auto is_repeated = [&](const SiteLine& line) { return seen_in[line.site] == copy; };
  const auto next = std::span(lines.lines).subspan(i).first(std::min(lines.lines.size() - i, kNext));
  const bool is_neighbour = i > first && lines.lines[i - 1].site == lines.lines[i].site;
  const auto repeated = std::ranges::count_if(next, is_repeated);
  return is_repeated(next.front()) && !is_neighbour && repeated >= kEnough && repeated * 2 >= std::ssize(next);
}

// Returns the index of the first line of the copy that has line `i`. The lines before `i` belong to the copy too if
// their sites do not occur again, and if a line without a site separates them from the previous copy.
std::size_t start_of_copy(const SiteLines& lines, std::size_t i, std::size_t first) {
  std::size_t start = i;
  while (start > first && lines.lines[start - 1].separator == lines.lines[i].separator &&
         lines.last[lines.lines[start - 1].site] < i)
    --start;
  const bool is_separated = start > first && lines.lines[start].separator > lines.lines[start - 1].begin;
  return is_separated ? start : i;
}

}  // namespace

bool is_allocinfo(std::string_view text) {
  constexpr std::size_t kFirstBytes = 4096;
  bool found = false;
  Format format;
  format.numbered = is_numbered(text.substr(0, std::min(text.find_last_of('\n', kFirstBytes), kFirstBytes)));
  each_line(text.substr(0, kFirstBytes), [&](std::string_view line) {
    found = found || (line.find("func:") != line.npos && site_of(plain_line(line, format)).has_value());
  });
  return found;
}

// Finds copies by repeated lines: only lines of headers, which several files include, are more than once in a copy.
std::vector<std::size_t> starts_of_allocinfo(std::string_view text) {
  const SiteLines lines = site_lines(text);
  std::vector<std::size_t> starts = {0};
  std::size_t first = 0;                                   // index of the first line of the current copy
  std::vector<std::size_t> seen_in(lines.last.size(), 0);  // for each site: number of the last copy that has it
  for (std::size_t i = 0; i < lines.lines.size(); ++i) {
    if (repeats_sites(lines, i, first, seen_in, starts.size())) {
      first = start_of_copy(lines, i, first);
      starts.push_back(lines.lines[first].begin);
      for (std::size_t j = first; j < i; ++j) seen_in[lines.lines[j].site] = starts.size();
    }
    seen_in[lines.lines[i].site] = starts.size();
  }
  return starts;
}

// Parses lines such as "    4096        1 mm/slub.c:2367 [module] func:alloc_slab_page …". The columns may be in
// any order.
void parse_allocinfo(std::string_view text, KernelMemory& memory) {
  bool has_unknown = false;
  const Format format = format_of(text);
  each_line(text, [&](std::string_view line) {
    line = plain_line(line, format);
    if (is_header(line)) return;
    auto site = site_of(line, format);
    if (!site) {
      has_unknown = true;
      return keep_unknown("allocinfo", line, memory);
    }
    if (site->count != 0 || site->bytes != 0) memory.allocinfo.push_back(std::move(*site));
  });
  const auto is_first = [&](const AllocationSite& site) {
    return site.name == memory.allocinfo.front().name && site.of == memory.allocinfo.front().of;
  };
  if (memory.allocinfo.size() > 1 && std::ranges::all_of(memory.allocinfo, is_first))
    memory.missing.push_back({"copies",
                              "all lines of allocinfo are of the same place. If they are several states of it, the sum "
                              "is too large",
                              "copy /proc/allocinfo once"});
  if (format.ambiguous && !memory.allocinfo.empty())
    memory.missing.push_back({"units",
                              "K, M and G in allocinfo are read as powers of 1024. If numfmt --to=si wrote them, the "
                              "sizes are too large: by 2 % with K, 5 % with M and 7 % with G",
                              "copy /proc/allocinfo unchanged"});
  if (format.title_unit != 1 && !memory.allocinfo.empty())
    memory.missing.push_back(
        {"units",
         fmt::format("sizes in allocinfo are read in units of {} bytes, as its title states", format.title_unit),
         "copy /proc/allocinfo unchanged"});
  if (!text.empty() && memory.allocinfo.empty() && !has_unknown)
    memory.missing.push_back({"allocinfo", "profiling is switched off", "sysctl vm.mem_profiling=1"});
}

}  // namespace kmt
