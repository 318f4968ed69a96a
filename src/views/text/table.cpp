// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/table.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;

constexpr std::string_view kEllipsis = "…";

// Returns the length below which names are not shortened. If the table is still too wide with names of this length,
// columns are dropped.
std::size_t shortest_name(const Table& table) {
  const auto names =
      std::count_if(table.columns.begin(), table.columns.end(), [](const auto& column) { return column.name; });
  return names <= 1 ? 28 : names == 2 ? 20 : 14;
}

std::vector<std::size_t> natural_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : table.columns) widths.push_back(columns_of(column.header));
  for (const TableRow& row : table.rows)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], columns_of(row.cells[i]));
  return widths;
}

// Returns the width of each column. A column that does not fit has width 0 and is dropped.
std::vector<std::size_t> fitted_widths(const Table& table, const TextStyle& style) {
  std::vector<std::size_t> widths = natural_widths(table);
  if (style.raw) return widths;
  const std::size_t shortest = shortest_name(table);
  const auto least = [&](std::size_t i) {
    return table.columns[i].name && !table.columns[i].whole ? std::min(widths[i], shortest) : widths[i];
  };
  const auto total = [&](const auto& width_of) {
    std::size_t sum = kIndent;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > 0) sum += width_of(i) + (sum == kIndent ? 0 : kGap);
    return sum;
  };
  while (total(least) > style.width) {
    std::size_t victim = 0;
    for (std::size_t i = 1; i < widths.size(); ++i)
      if (widths[i] > 0 && table.columns[i].importance > table.columns[victim].importance) victim = i;
    if (table.columns[victim].importance == 0) break;
    widths[victim] = 0;
  }
  const std::size_t natural = total([&](std::size_t i) { return widths[i]; });
  std::size_t excess = natural > style.width ? natural - style.width : 0;
  std::vector<std::size_t> by_importance(widths.size());
  std::iota(by_importance.begin(), by_importance.end(), std::size_t{0});
  std::ranges::stable_sort(by_importance, std::ranges::greater(),
                           [&](std::size_t i) { return table.columns[i].importance; });
  for (const std::size_t i : by_importance) {
    if (widths[i] == 0) continue;
    const std::size_t taken = std::min(excess, widths[i] - least(i));
    widths[i] -= taken;
    excess -= taken;
  }
  return widths;
}

std::string line(const std::vector<TableColumn>& columns, const std::vector<std::size_t>& widths,
                 const std::vector<std::string>& cells) {
  std::string out(kIndent, ' ');
  bool first = true;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    if (!first) out.append(kGap, ' ');
    first = false;
    const std::string cell = columns[i].name ? shortened(cells[i], widths[i]) : cells[i];
    const std::string padding(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
    out += columns[i].name ? cell + padding : padding + cell;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string decimal_text(double number, Unit unit, bool raw) {
  if (raw) return fmt::format("{:.3f}", number);
  if (unit == Unit::percent) return fmt::format("{:.1f}%", number);
  if (unit == Unit::bytes_per_s) return say_growth(number);
  if (number > 0 && number < 1) return fmt::format("{:.2g}", number);
  return number < 100 ? fmt::format("{:.1f}", number) : humane_count(static_cast<std::uint64_t>(number));
}

std::string number_text(std::uint64_t number, Unit unit, bool raw) {
  if (unit == Unit::address) return fmt::format("{:#x}", number);
  if (raw || unit == Unit::order) return fmt::format("{}", number);
  switch (unit) {
    case Unit::bytes: return humane_bytes(number);
    case Unit::duration: return humane_duration(number);
    case Unit::time: return say_seconds(number);
    default: return humane_count(number);
  }
}

}  // namespace

std::string to_text(const Table& table, const TextStyle& style) {
  const std::vector<std::size_t> widths = fitted_widths(table, style);
  std::vector<std::string> headers;
  for (const TableColumn& column : table.columns) headers.push_back(column.header);
  std::string out = emphasised(line(table.columns, widths, headers), Emphasis::heading, style) + "\n";
  for (const TableRow& row : table.rows) {
    const std::string text = line(table.columns, widths, row.cells);
    const std::optional<Emphasis> emphasis = row.aside ? Emphasis::aside : row.emphasis;
    out += (emphasis ? emphasised(text, *emphasis, style) : text) + "\n";
  }
  return out;
}

std::string cell_text(const Cell& cell, Unit unit, bool raw) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return number_text(*number, unit, raw);
  if (const auto* decimal = std::get_if<double>(&cell)) return decimal_text(*decimal, unit, raw);
  if (const auto* text = std::get_if<std::string_view>(&cell)) return ascii(*text);
  return "-";
}

std::string ascii(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E)
      safe += fmt::format("\\x{:02x}", byte);
    else
      safe += c;
  }
  return safe;
}

std::string shortened(std::string_view name, std::size_t width) {
  if (name.size() <= width) return std::string(name);
  if (width < 3) return std::string(name.substr(0, width));
  const std::size_t room = width - 1;
  // Keeps an ending such as "+0x1f [ext4]" whole if it needs at most a third of the width.
  const std::size_t offset = std::min(name.rfind('+'), name.size());
  const std::size_t ending = name.size() - offset;
  const std::size_t tail = ending <= room / 3 ? ending + (room - ending) / 4 : room / 3;
  std::string out(name.substr(0, room - tail));
  out += kEllipsis;
  out += name.substr(name.size() - tail);
  return out;
}

std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style) {
  if (!style.colour) return std::string(text);
  const auto sequence = [emphasis]() -> std::string_view {
    switch (emphasis) {
      case Emphasis::heading: return "\x1b[1m";
      case Emphasis::aside: return "\x1b[2m";
      case Emphasis::good: return "\x1b[32m";
      case Emphasis::warning: return "\x1b[33m";
      case Emphasis::bad: return "\x1b[31m";
    }
    return "";
  };
  return fmt::format("{}{}\x1b[0m", sequence(), text);
}

}  // namespace kmt
