// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

constexpr std::string_view kAsciiLevels = " .:-=+*#";
constexpr std::size_t kLevels = kAsciiLevels.size();
constexpr std::array<unsigned, 6> kColours = {36, 33, 35, 32, 31, 34};  // SGR codes: cyan, yellow, magenta, …
constexpr std::size_t kIndent = 2;

// Returns a character as UTF-8. The character must be one that needs three bytes.
std::string utf8(unsigned code) {
  return {static_cast<char>(0xE0u | code >> 12), static_cast<char>(0x80u | (code >> 6 & 0x3Fu)),
          static_cast<char>(0x80u | (code & 0x3Fu))};
}

struct Scale {
  double low = 0;
  double high = 0;

  void take(std::span<const double> values) {
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  // Returns the step for the value. Steps are numbered from 0 to steps - 1.
  std::size_t step_of(double value, std::size_t steps) const {
    if (high <= low) return 0;
    const double share = value / (high - low) - low / (high - low);
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(steps - 1)));
  }
};

// Distributes the values over the places. Each place has the greatest of its values. If there are fewer values than
// places, a value fills several places.
std::vector<double> fitted(std::span<const double> values, std::size_t places) {
  std::vector<double> out(places, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t place = 0; place < places && !values.empty(); ++place) {
    const std::size_t begin = place * values.size() / places;
    const std::size_t end = std::max(begin + 1, (place + 1) * values.size() / places);
    for (std::size_t i = begin; i < end; ++i)
      if (std::isfinite(values[i]) && !(out[place] >= values[i])) out[place] = values[i];
  }
  return out;
}

// A canvas of dots. A braille character has eight dots, and an ASCII character counts as one dot. Rows are numbered
// from the bottom.
class Canvas {
 public:
  Canvas(std::size_t cells, std::size_t lines, bool unicode)
      : unicode_(unicode), cells_(cells), lines_(lines), grid_(cells * lines) {}

  std::size_t columns() const { return unicode_ ? 2 * cells_ : cells_; }
  std::size_t rows() const { return unicode_ ? 4 * lines_ : lines_; }

  void set(std::size_t column, std::size_t row, std::size_t series) {
    // The bits of the dots of a braille character, relative to U+2800 (Unicode 15, "Braille Patterns"). The first list
    // is the left column and the second is the right column, each from top to bottom.
    static constexpr std::array<std::array<std::uint8_t, 4>, 2> kDots = {
        {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    const std::size_t from_top = rows() - 1 - row;
    Cell& cell = unicode_ ? grid_[from_top / 4 * cells_ + column / 2] : grid_[from_top * cells_ + column];
    cell.dots |= unicode_ ? kDots[column % 2][from_top % 4] : std::uint8_t{1};
    cell.series = series;
  }

  // Returns one line of the canvas without trailing blanks.
  std::string line(std::size_t from_top, bool colour) const {
    const auto begin = grid_.begin() + static_cast<std::ptrdiff_t>(from_top * cells_);
    auto end = begin + static_cast<std::ptrdiff_t>(cells_);
    while (end != begin && std::prev(end)->dots == 0) --end;
    std::string out;
    unsigned current = 0;
    for (auto cell = begin; cell != end; ++cell) {
      const unsigned wanted = cell->dots == 0 ? current : kColours[cell->series % kColours.size()];
      if (colour && wanted != current) out += fmt::format("\x1b[{}m", wanted);
      current = wanted;
      out += cell->dots == 0 ? " " : unicode_ ? utf8(0x2800u + cell->dots) : "#";
    }
    return colour && current != 0 ? out + "\x1b[0m" : out;
  }

 private:
  struct Cell {
    std::uint8_t dots = 0;
    std::size_t series = 0;
  };

  bool unicode_;
  std::size_t cells_;
  std::size_t lines_;
  std::vector<Cell> grid_;
};

void draw(Canvas& canvas, const std::vector<double>& values, const Scale& scale, std::size_t series, bool as_area) {
  const std::vector<double> places = fitted(values, canvas.columns());
  const std::size_t zero = scale.step_of(0, canvas.rows());
  for (std::size_t column = 0; column < places.size(); ++column) {
    if (!std::isfinite(places[column])) continue;
    const std::size_t row = scale.step_of(places[column], canvas.rows());
    // Each column of a curve is a vertical line from the previous value to this value.
    const bool follows = column > 0 && std::isfinite(places[column - 1]);
    const std::size_t from = as_area ? zero : follows ? scale.step_of(places[column - 1], canvas.rows()) : row;
    for (std::size_t at = std::min(from, row); at <= std::max(from, row); ++at) canvas.set(column, at, series);
  }
}

std::string name_line(const PlotSeries& series, const TextStyle& style) {
  return std::string(kIndent, ' ') +
         emphasised(shortened(ascii(series.name), style.width - kIndent), Emphasis::heading, style) + "\n";
}

std::string legend(std::span<const PlotSeries> series, const TextStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < series.size(); ++i)
    out += fmt::format("{:{}}\x1b[{}m{}\x1b[0m {}\n", "", kIndent, kColours[i], style.unicode ? "■" : "#",
                       shortened(ascii(series[i].name), style.width - kIndent - 2));
  return out;
}

// Returns the curves of all series on one scale, together with the axes.
std::string curves(std::span<const PlotSeries> series, const PlotFrame& frame, const TextStyle& style) {
  Scale scale;
  if (frame.from_least) {
    constexpr auto kNone = std::numeric_limits<double>::infinity();
    scale = {kNone, -kNone};
  }
  for (const PlotSeries& one : series) scale.take(one.values);
  if (scale.low > scale.high) scale = {};  // there are no known values
  const std::string top = frame.say(scale.high);
  const std::string bottom = frame.say(scale.low);
  const std::size_t label = std::max(top.size(), bottom.size());
  const std::size_t taken = kIndent + label + 2;
  const std::size_t cells = style.width > taken + 1 ? style.width - taken : 1;
  Canvas canvas(cells, std::max<std::size_t>(frame.height, 1), style.unicode);
  for (std::size_t i = 0; i < series.size(); ++i) draw(canvas, series[i].values, scale, i, series.size() == 1);

  std::string out;
  const std::size_t lines = std::max<std::size_t>(frame.height, 1);
  for (std::size_t at = 0; at < lines; ++at) {
    const std::string_view text = at == 0 ? top : at + 1 == lines ? bottom : std::string_view();
    const std::string_view axis = style.unicode ? (text.empty() ? "│" : "┤") : (text.empty() ? "|" : "+");
    out += fmt::format("{:{}}{:>{}} {}{}\n", "", kIndent, text, label, axis, canvas.line(at, style.colour));
  }
  const std::string margin(kIndent + label + 1, ' ');
  out += margin + (style.unicode ? "└" : "+");
  for (std::size_t i = 0; i < cells; ++i) out += style.unicode ? "─" : "-";
  const std::size_t ends = frame.begin.size() + frame.end.size();
  const std::string between(cells > ends ? cells - ends : 1, ' ');
  return out + "\n" + margin + " " + frame.begin + between + frame.end + "\n";
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t cells, const TextStyle& style) {
  Scale scale;
  scale.take(values);
  std::string out;
  for (const double value : fitted(values, cells)) {
    const std::size_t level = std::isfinite(value) ? scale.step_of(value, kLevels) : 0;
    if (!std::isfinite(value))
      out += ' ';
    else
      out += style.unicode ? utf8(0x2581u + static_cast<unsigned>(level)) : std::string(1, kAsciiLevels[level]);
  }
  return out;
}

std::string plot(const std::vector<PlotSeries>& series, const PlotFrame& frame, const TextStyle& style) {
  if (series.size() > 1 && style.colour && series.size() <= kColours.size())
    return legend(series, style) + curves(series, frame, style);
  std::string out;
  for (const PlotSeries& one : series) out += name_line(one, style) + curves({&one, 1}, frame, style);
  return out;
}

}  // namespace kmt
