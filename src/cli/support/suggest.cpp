// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/suggest.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kmt {

namespace {

// Returns the optimal string alignment distance of two words, computed row by row.
std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestTyped = 64;
  if (typed.empty() || typed.size() > kLongestTyped) return {};
  std::string nearest;
  std::size_t fewest = typed.size() <= 4 ? 2 : 3;
  for (const std::string& name : names) {
    const std::size_t errors = typing_errors(typed, name);
    if (errors >= fewest) continue;
    fewest = errors;
    nearest = name;
  }
  if (!nearest.empty()) return nearest;
  const auto completed =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.starts_with(typed); });
  return completed == names.end() || typed.size() < 2 ? std::string{} : *completed;
}

Error unknown_name(std::string_view what, std::string_view typed, const std::vector<std::string>& names) {
  Error error(fmt::format("{} \"{}\"", what, typed));
  const std::string nearest = nearest_name(std::string(typed), names);
  error.hint((nearest.empty() ? "" : fmt::format("Did you mean \"{}\"? ", nearest)) +
             fmt::format("Valid names: {}", fmt::join(names, ", ")));
  return error;
}

}  // namespace kmt
