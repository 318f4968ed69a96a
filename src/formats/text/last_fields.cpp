// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/last_fields.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/text/lines.hpp"

namespace kmt::text {

namespace {

constexpr std::size_t kMostNames = 8;

// Returns the name of the last field, or an empty name.
std::string_view last_name(std::string_view fields) {
  const std::size_t equals = fields.rfind('=');
  if (equals == fields.npos) return {};
  const std::string_view before = fields.substr(0, equals);
  return before.substr(before.rfind(' ') + 1);
}

}  // namespace

void LastFields::learn(const Line& line) {
  if (line.has_end_mark) return;
  const std::string_view name = last_name(line.fields);
  auto found = std::ranges::find(found_, name, &Last::name);
  if (found == found_.end()) {
    if (name.empty() || found_.size() == kMostNames) return;
    const auto fields = static_cast<std::size_t>(std::ranges::count(line.fields, '='));
    found = found_.insert(found_.end(), {std::string(name), fields, 0});
  }
  ++found->lines;
  const auto rank = [](const Last& last) { return std::pair(last.lines, last.fields); };
  if (rank(*found) > rank(found_[usual_])) usual_ = static_cast<std::size_t>(found - found_.begin());
}

bool LastFields::is_cut(const Line& line) const {
  if (line.has_end_mark || found_.size() < 2) return false;
  const Last& usual = found_[usual_];
  const std::string_view name = last_name(line.fields);
  if (name == usual.name || !value_of(line.fields, usual.name).empty()) return false;
  const auto found = std::ranges::find(found_, name, &Last::name);
  // Before Linux 6.1, the flags are the last field. A text may be of two kernels, so such lines are cut only if rare.
  return name != "gfp_flags" || found == found_.end() || found->lines < usual.lines;
}

}  // namespace kmt::text
