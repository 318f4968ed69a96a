// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/cut_number.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log/memory_line.hpp"

namespace kmt {

namespace {

bool is_unit(std::string_view text) { return text == "kB" || text == "KB"; }

bool is_all_digits(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

// Removes digits from the front of the text. Returns true if there are any.
bool take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end != 0;
}

// True if `rest` can be the rest of an amount whose start is `word`. A rest is "34", "34kB" or "kB", or "B" if the word
// ends with "k".
bool is_rest_of_amount(std::string_view word, std::string_view rest) {
  if (word.ends_with('k')) return rest == "B";
  if (!is_digit(word.back())) return false;
  const bool has_digits = take_digits(rest);
  return is_unit(rest) || (has_digits && rest.empty());
}

// True for "active_anon:12", "active_anon:12k" and "hugepages_size=20".
bool is_counter(std::string_view word) {
  const std::size_t sign = word.find_first_of(":=");
  if (sign == word.npos || sign + 1 == word.size()) return false;
  const bool has_name =
      word[sign] == '=' ? word.starts_with("hugepages_") : !counter_name(word.substr(0, sign)).empty();
  std::string_view value = word.substr(sign + 1);
  return has_name && take_digits(value) && (value.empty() || value == "k");
}

// True if `rest` completes a block such as "3*64kB", whose start `word` is "3", "3*", "3*6" or "3*64k".
bool is_rest_of_block(std::string_view word, std::string_view rest) {
  std::string_view left = word;
  if (!take_digits(left)) return false;
  if (left.empty()) {
    take_digits(rest);
    return rest.starts_with('*') && take_digits(rest = rest.substr(1)) && is_unit(rest);
  }
  if (!left.starts_with('*')) return false;
  left.remove_prefix(1);
  if (left.empty()) return take_digits(rest) && is_unit(rest);
  return take_digits(left) && (left.empty() || left == "k") && is_rest_of_amount(word, rest);
}

// True for lines such as "524178 pages RAM".
bool is_count_of_pages(std::string_view line) {
  Words words(line);
  return is_all_digits(words.next()) && (words.rest().starts_with("pages ") || words.rest().starts_with("total "));
}

}  // namespace

bool continues_number(std::string_view line, std::string_view next) {
  line = trim(line);
  const std::size_t begin = line.find_last_of(" \t") + 1;  // if nothing is found, npos + 1 is 0
  const std::string_view word = line.substr(begin);
  const std::string_view rest = Words(next).next();
  if (word.empty() || rest.empty()) return false;
  if (is_all_digits(line)) return is_count_of_pages(next);
  if (is_rest_of_block(word, rest)) return true;
  if (is_count_of_pages(next)) return false;
  const bool is_amount = is_counter(word) || trim(line.substr(0, begin)).ends_with('=');
  return is_amount && is_rest_of_amount(word, rest);
}

std::string_view without_cut_counter(std::string_view last_line) {
  const std::size_t begin = last_line.find_last_of(" \t") + 1;
  return is_counter(last_line.substr(begin)) ? last_line.substr(0, begin) : last_line;
}

}  // namespace kmt
