// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/state/slabinfo.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

// Columns that this parser knows. The header line contains the names of the columns: "# name <active_objs> … : tunables
// <limit> …".
constexpr std::array<std::pair<std::string_view, std::uint64_t SlabInfo::*>, 6> kColumns = {{
    {"active_objs", &SlabInfo::active_objects},
    {"num_objs", &SlabInfo::objects},
    {"objsize", &SlabInfo::object_bytes},
    {"objperslab", &SlabInfo::objects_per_slab},
    {"pagesperslab", &SlabInfo::pages_per_slab},
    {"num_slabs", &SlabInfo::slabs},
}};
constexpr std::string_view kUsualHeader =
    "# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> "
    "<sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>";

// Version 1.1 (Linux 2.4) has no header.
constexpr std::string_view kFirstVersion = "slabinfo - version: 1.1";
constexpr std::string_view kHeaderOfFirstVersion =
    "# name <active_objs> <num_objs> <objsize> <active_slabs> <num_slabs> <pagesperslab>";

// Returns the words of the header without "#" and "<>".
std::vector<std::string_view> column_names(std::string_view header) {
  std::vector<std::string_view> columns;
  for (Words words(header.substr(1)); !words.empty();) {
    std::string_view word = words.next();
    if (word.starts_with('<') && word.ends_with('>') && word.size() > 2) word = word.substr(1, word.size() - 2);
    columns.push_back(word);
  }
  return columns;
}

bool has_needed_columns(const std::vector<std::string_view>& columns) {
  return std::ranges::all_of(kColumns, [&](const auto& known) {
    return known.first == "objperslab" || std::ranges::find(columns, known.first) != columns.end();
  });
}

bool take_column(std::string_view column, std::string_view value, SlabInfo& slab) {
  if (column == "name") {
    slab.name = value;
    return !value.empty();
  }
  // ":", or the name that starts a group of columns, such as "tunables" or "globalstat".
  if (value == column) return true;
  for (const auto& [known, member] : kColumns) {
    if (column != known) continue;
    const auto number = whole_number(value);
    if (number) slab.*member = *number;
    return number.has_value();
  }
  slab.others.emplace_back(column, value);
  return whole_number(value).has_value();
}

// True if a line describes more bytes of memory than any machine has. Such a line must be damaged.
bool is_too_large(const SlabInfo& slab) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;
  constexpr std::uint64_t kMostPages = kMostBytes >> 12;
  return slab.object_bytes > kMostBytes / std::max<std::uint64_t>(slab.objects, 1) ||
         slab.pages_per_slab > kMostPages / std::max<std::uint64_t>(slab.slabs, 1);
}

// Removes the name from the start of a line and returns it. The name may contain blanks, so its end is found from the
// right: a known number of columns precedes the first colon.
std::string_view take_name(std::string_view& line, const std::vector<std::string_view>& columns) {
  const auto numbers = std::ranges::find(columns, ":") - columns.begin() - 1;
  std::size_t begin = std::min(line.find(" : "), line.size());
  for (std::ptrdiff_t i = 0; i < numbers; ++i) {
    begin = line.find_last_not_of(" \t", begin == 0 ? 0 : begin - 1);
    // At position 0, the line has too few numbers before the colon.
    begin = begin == std::string_view::npos ? 0 : line.find_last_of(" \t", begin) + 1;
  }
  const std::string_view name = trim(line.substr(0, begin));
  line.remove_prefix(begin);
  return name;
}

std::optional<SlabInfo> slab_of(std::string_view line, const std::vector<std::string_view>& columns) {
  SlabInfo slab;
  if (columns.empty() || !take_column(columns.front(), take_name(line, columns), slab)) return std::nullopt;
  // Columns after the last usual one are statistics, which are not needed.
  const auto is_known = [](std::string_view column) {
    return column == "sharedavail" ||
           std::ranges::find(kColumns, column, [](const auto& known) { return known.first; }) != kColumns.end();
  };
  const auto needed =
      static_cast<std::size_t>(std::find_if(columns.rbegin(), columns.rend(), is_known).base() - columns.begin());
  Words words(line);
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (words.empty() && i >= needed) break;
    if (words.empty() || (!take_column(columns[i], words.next(), slab) && i < needed)) return std::nullopt;
  }
  // Statistics that a debug kernel with SLAB adds to the line.
  if (!words.empty()) slab.others.emplace_back("rest", words.rest());
  if (is_too_large(slab)) return std::nullopt;
  return slab;
}

}  // namespace

Slabinfo parse_slabinfo(std::string_view text) {
  Slabinfo slabinfo;
  std::vector<std::string_view> columns = column_names(kUsualHeader);
  each_line(text, [&](std::string_view written) {
    const std::string_view line = trim(written);
    if (line.starts_with(kFirstVersion)) columns = column_names(kHeaderOfFirstVersion);
    Words words(line);
    if (line.empty() || (words.next() == "slabinfo" && words.next() == "-")) return;
    if (line.starts_with('#')) {
      columns = column_names(line);
      return;
    }
    auto slab = has_needed_columns(columns) ? slab_of(line, columns) : std::nullopt;
    if (slab)
      slabinfo.caches.push_back(std::move(*slab));
    else
      slabinfo.unknown.push_back(line);
  });
  return slabinfo;
}

}  // namespace kmt
