// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/learned_prefix.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::size_t length_of_digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}
std::size_t length_of_blanks(std::string_view text) { return std::min(text.find_first_not_of(" \t"), text.size()); }

// True if the digits at this position are part of a name, such as "node-1" and "web2". Other digits are line numbers
// and times, which differ from line to line.
bool belongs_to_name(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  if (is_letter(text[at - 1])) return true;
  return at > 1 && (text[at - 1] == '-' || text[at - 1] == '_') && is_letter(text[at - 2]);
}

// Returns the length of the prefix at the front of `text` that has this form. 0 if there is none.
std::size_t length_of_prefix(std::string_view form, std::string_view text) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < form.size();) {
    const std::string_view left = text.substr(at);
    if (is_digit(form[i]) && !belongs_to_name(form, i)) {
      if (length_of_digits(left) == 0) return 0;
      at += length_of_digits(left);
      i += length_of_digits(form.substr(i));
    } else if (is_blank(form[i])) {
      if (!left.empty() && !is_blank(left.front())) return 0;
      at += length_of_blanks(left);
      i += length_of_blanks(form.substr(i));
    } else {
      if (left.empty() || left.front() != form[i]) return 0;
      ++at, ++i;
    }
  }
  return at;
}

// Returns the first word of the prefix that has a letter.
std::string source_of(std::string_view form) {
  for (Words words(form); !words.empty();)
    if (const std::string_view word = words.next(); std::ranges::any_of(word, is_letter)) return std::string(word);
  return {};
}

}  // namespace

std::string_view prefix_of_known_message(std::string_view line) {
  constexpr std::size_t kMost = 160;
  constexpr std::array<std::string_view, 4> kWholeMessages = {
      "Mem-Info:", "Mem-info:", "Tasks state (memory values in pages):", "DMA per-cpu:"};
  line = trim(line);
  std::size_t at = line.find("memory: usage ");
  for (const std::string_view message : kWholeMessages)
    if (line.ends_with(message)) at = line.size() - message.size();
  if (at == line.npos || at == 0 || at > kMost) return {};
  const std::string_view prefix = line.substr(0, at);
  const bool is_node = prefix.find("Node ") != prefix.npos;  // the prefix would include the start of the message
  const bool ends_word =
      is_blank(prefix.back()) || prefix.back() == ':' || prefix.back() == ']' || prefix.back() == '|';
  return is_node || !ends_word ? std::string_view() : prefix;
}

void LearnedPrefixes::learn(const std::vector<std::string>& lines) {
  constexpr std::size_t kMostPrefixes = 64;
  constexpr std::size_t kEnough = 4;
  if (lines.empty() || prefixes_.size() >= kMostPrefixes) return;
  const std::string_view form = prefix_of_known_message(lines.front());
  const auto is_known = [&](const LearnedPrefix& one) {
    return length_of_prefix(one.form, lines.front()) == form.size();
  };
  if (form.empty() || std::ranges::any_of(prefixes_, is_known)) return;
  // A third of the lines is enough, because lines of other sources may stand in between.
  const auto count = static_cast<std::size_t>(std::count_if(
      lines.begin() + 1, lines.end(), [form](const std::string& line) { return length_of_prefix(form, line) != 0; }));
  if (count == 0 || count < std::min(kEnough, lines.size() - 1) || count * 3 < lines.size() - 1) return;
  prefixes_.push_back({std::string(form), source_of(form)});
  // Longer prefixes first, because one may be the beginning of another.
  std::ranges::sort(prefixes_, std::greater(), [](const LearnedPrefix& one) { return one.form.size(); });
  has_sources_ =
      std::ranges::any_of(prefixes_, [&](const LearnedPrefix& one) { return one.source != prefixes_.front().source; });
}

std::string_view LearnedPrefixes::take(std::string_view& text) const {
  for (const LearnedPrefix& known : prefixes_) {
    const std::size_t length = length_of_prefix(known.form, text);
    if (length == 0) continue;
    text = trim(text.substr(length));
    return has_sources_ ? std::string_view(known.source) : std::string_view();
  }
  return {};
}

}  // namespace kmt
