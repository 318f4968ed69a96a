// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/wrappers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/wrappers_text.hpp"

namespace kmt {

WrapperList WrapperList::built_in() {
  WrapperList list;
  list.add(kWrappersText, "wrappers.txt");
  return list;
}

void WrapperList::add(std::string_view text, const std::string& path) {
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view content = trim(line);
    if (content.empty() || content.front() == '#') continue;
    Entry entry;
    entry.hides = content.front() != '!';
    const std::string_view rest = content.substr(entry.hides ? 0 : 1);
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    entry.glob = rest.substr(0, end);
    entry.why = trim(rest.substr(end));
    entry.is_name = entry.glob.find_first_of("*?[\\") == std::string::npos;
    if (entry.glob.empty() || entry.glob.find_first_of("+!/#") != std::string::npos)
      throw Error(fmt::format("Line {} is neither the name of a function nor a glob: \"{}\"", number,
                              printable(content.substr(0, 60))))
          .at({path, {}, {}})
          .hint(
              "A line is a glob, optionally followed by a blank and a reason. A leading `!` removes functions from the "
              "list. See docs/wrappers.md");
    entries_.push_back(std::move(entry));
  }
}

bool WrapperList::hides(std::string_view function) const {
  if (function.starts_with("0x")) return false;
  const std::string name(function_of(function));
  const auto last = std::find_if(entries_.rbegin(), entries_.rend(), [&name](const Entry& entry) {
    return entry.is_name ? entry.glob == name : glob_match(entry.glob, name);
  });
  return last != entries_.rend() && last->hides;
}

bool CallerFinder::hides(std::uint64_t address) {
  const auto [entry, is_new] = hidden_.try_emplace(address);
  if (is_new) entry->second = wrappers_.hides(names_.name(address));
  return entry->second;
}

std::size_t CallerFinder::caller(std::span<const std::uint64_t> stack) {
  const auto found =
      std::find_if(stack.begin(), stack.end(), [this](std::uint64_t address) { return !hides(address); });
  return static_cast<std::size_t>(found - stack.begin());
}

}  // namespace kmt
