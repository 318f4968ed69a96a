// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/counting/hist_text.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

constexpr std::string_view kTrigger = "# trigger info: ";

// Returns the names of the keys in a trigger "hist:keys=call_site,common_pid.execname:vals=…".
std::vector<std::string_view> key_names(std::string_view trigger) {
  std::string_view list = trigger.substr(std::min(trigger.find("keys="), trigger.size()));
  list.remove_prefix(std::min<std::size_t>(5, list.size()));
  list = list.substr(0, list.find(':'));
  std::vector<std::string_view> names;
  for (const std::string_view name : split(list, ',')) names.push_back(name.substr(0, name.find('.')));
  return names;
}

// Parses "{ call_site: 123, name: kmalloc-8 } hitcount: 5  bytes_req: 40". Keys may contain any text, so each key ends
// where the next one starts.
HistEntry parse_entry(std::string_view line, const std::vector<std::string_view>& names) {
  HistEntry entry;
  const std::size_t close = line.rfind('}');
  if (close == std::string_view::npos) return entry;
  std::string_view keys = line.substr(1, close - 1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string start = std::string(names[i]) + ":";
    const std::size_t at = keys.find(start);
    if (at == std::string_view::npos) continue;
    keys.remove_prefix(at + start.size());
    const std::size_t end = i + 1 < names.size() ? keys.find(", " + std::string(names[i + 1]) + ":") : keys.size();
    entry.keys.emplace(names[i], trim(keys.substr(0, end)));
  }
  std::string_view name;
  for (const std::string_view word : split(line.substr(close + 1), ' ')) {
    if (word.ends_with(':'))
      name = word.substr(0, word.size() - 1);
    else if (!word.empty() && !name.empty())
      entry.values.emplace(name, parse_leading<std::uint64_t>(word).value_or(0));
  }
  return entry;
}

}  // namespace

std::uint64_t HistEntry::number(std::string_view value) const {
  const auto found = values.find(value);
  return found == values.end() ? 0 : found->second;
}

std::uint64_t HistEntry::key_number(std::string_view key) const {
  const auto found = keys.find(key);
  return found == keys.end() ? 0 : parse_leading<std::uint64_t>(found->second).value_or(0);
}

std::string_view HistTable::filter() const {
  const std::string_view text = trigger;
  const std::size_t at = text.find(" if ");
  if (at == std::string_view::npos) return {};
  return trim(text.substr(at + 4, text.rfind('[') - at - 4));
}

std::vector<HistTable> parse_hist(std::string_view text) {
  std::vector<HistTable> tables;
  std::vector<std::string_view> names;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(kTrigger)) {
      tables.emplace_back().trigger = line.substr(kTrigger.size());
      names = key_names(tables.back().trigger);
    } else if (tables.empty()) {
      continue;
    } else if (line.starts_with('{')) {
      tables.back().entries.push_back(parse_entry(line, names));
    } else if (const std::string_view trimmed = trim(line); trimmed.starts_with("Dropped: ")) {
      tables.back().dropped = parse_leading<std::uint64_t>(trimmed.substr(9)).value_or(0);
    }
  }
  return tables;
}

}  // namespace kmt
