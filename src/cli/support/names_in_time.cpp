// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/names_in_time.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "base/number.hpp"

namespace kmt {

namespace {

enum class Stage : unsigned char { early, between, late };

// The length and the digits of a number without leading zeros. A longer number is larger. So numbers of any size can be
// compared.
using Digits = std::pair<std::size_t, std::string>;

struct NameTime {
  Stage stage = Stage::between;
  std::vector<Digits> numbers;
  std::string words;  // the text, in which each number is replaced by "0"

  bool operator<(const NameTime& other) const {
    return std::pair(stage, numbers) < std::pair(other.stage, other.numbers);
  }
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Stage stage_of(std::string_view word) {
  constexpr std::array<std::string_view, 5> kEarly = {"before", "start", "begin", "first", "old"};
  constexpr std::array<std::string_view, 5> kLate = {"after", "end", "last", "finish", "new"};
  if (std::ranges::find(kEarly, word) != kEarly.end()) return Stage::early;
  return std::ranges::find(kLate, word) != kLate.end() ? Stage::late : Stage::between;
}

NameTime time_in_name(const std::string& name) {
  NameTime time;
  for (std::size_t at = 0; at < name.size();) {
    bool (*const is_same)(char) = is_digit(name[at]) ? is_digit : is_letter;
    std::size_t end = at;
    while (end < name.size() && is_same(name[end])) ++end;
    std::string part = name.substr(at, std::max<std::size_t>(end - at, 1));
    at += part.size();
    if (is_digit(part.front())) {
      part.erase(0, std::min(part.find_first_not_of('0'), part.size()));
      time.numbers.emplace_back(part.size(), part);
      time.words += '0';
      continue;
    }
    std::ranges::transform(part, part.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (const Stage stage = stage_of(part); stage != Stage::between) time.stage = stage;
    time.words += part;
  }
  return time;
}

}  // namespace

bool sort_by_time_in_names(std::vector<std::string>& names) {
  std::vector<std::pair<NameTime, std::string>> times;
  times.reserve(names.size());
  for (const std::string& name : names) times.emplace_back(time_in_name(name), name);
  const auto first = [](const auto& one) -> const NameTime& { return one.first; };
  std::ranges::stable_sort(times, std::less(), first);
  const auto has = [&](Stage stage) {
    return std::ranges::any_of(times, [stage](const auto& one) { return one.first.stage == stage; });
  };
  // Names that differ only in numbers are sorted by them. Numbers in names of machines do not show an order in time,
  // but such names usually also differ in words.
  const bool only_numbers_differ =
      std::ranges::all_of(times, [&](const auto& one) { return one.first.words == times.front().first.words; });
  const bool all_differ = std::ranges::adjacent_find(
                              times, [](const auto& a, const auto& b) { return !(a.first < b.first); }) == times.end();
  if (!all_differ || !(only_numbers_differ || (has(Stage::early) && has(Stage::late)))) return false;
  std::ranges::transform(times, names.begin(), [](const auto& one) { return one.second; });
  return true;
}

}  // namespace kmt
