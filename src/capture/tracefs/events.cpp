// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/events.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

bool matches(const EventName& event, const std::string& pattern) {
  if (pattern.find(':') == std::string::npos) return glob_match(pattern, event.system);
  return glob_match(pattern, event.full());
}

// Events whose name holds the pattern's last word, or else those of its system: what a typo may have meant.
std::vector<std::string> near_events(const std::vector<EventName>& available, const std::string& pattern) {
  const std::size_t colon = pattern.find(':');
  const std::string system = pattern.substr(0, colon);
  std::string word = colon == std::string::npos ? pattern : pattern.substr(colon + 1);
  std::erase_if(word, [](char c) { return c == '*' || c == '?'; });
  std::vector<std::string> near;
  for (const EventName& event : available)
    if (!word.empty() && event.name.find(word) != std::string::npos) near.push_back(event.full());
  for (const EventName& event : available)
    if (near.size() < 8 && event.system == system) near.push_back(event.full());
  near.resize(std::min<std::size_t>(near.size(), 8));
  return near;
}

}  // namespace

const std::vector<std::string>& default_events() {
  static const std::vector<std::string> kDefaults = {
      "kmem:kmalloc",         "kmem:kmalloc_node", "kmem:kfree", "kmem:kmem_cache_alloc", "kmem:kmem_cache_alloc_node",
      "kmem:kmem_cache_free", "kmem:mm_page_*",
  };
  return kDefaults;
}

std::vector<EventName> available_events(const std::string& tracefs) {
  std::vector<EventName> events;
  const std::string text = read_file(tracefs + "/available_events");
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      events.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + 1))});
  }
  return events;
}

std::vector<EventName> select_events(const std::vector<EventName>& available,
                                     const std::vector<std::string>& patterns) {
  std::vector<EventName> selected;
  for (const EventName& event : available)
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](const std::string& pattern) { return matches(event, pattern); }))
      selected.push_back(event);
  for (const std::string& pattern : patterns) {
    if (std::any_of(selected.begin(), selected.end(), [&](const EventName& event) { return matches(event, pattern); }))
      continue;
    Error error(fmt::format("This kernel has no event \"{}\"", pattern));
    const std::vector<std::string> near = near_events(available, pattern);
    error.hint(near.empty() ? "`kmemtrace list events` shows what there is"
                            : fmt::format("It has: {}", fmt::join(near, ", ")));
    throw error;
  }
  return selected;
}

std::vector<EventName> select_default_events(const std::vector<EventName>& available) {
  std::vector<std::string> present;
  for (const std::string& pattern : default_events())
    if (std::any_of(available.begin(), available.end(),
                    [&](const EventName& event) { return matches(event, pattern); }))
      present.push_back(pattern);
  if (!present.empty()) return select_events(available, present);
  Error error("This kernel has no kmem events", ExitCode::unsupported);
  error.hint(
      "They need CONFIG_FTRACE and CONFIG_ENABLE_DEFAULT_TRACERS (or any other tracer) in the kernel's configuration");
  throw error;
}

}  // namespace kmt
