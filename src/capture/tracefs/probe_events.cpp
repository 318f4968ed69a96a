// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/probe_events.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// A line is "  probe_exit                    2               0".
struct ProfileLine {
  std::string_view name;
  ProbeCounts counts;
};

std::optional<ProfileLine> parse_profile_line(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() != 3) return std::nullopt;
  ProfileLine parsed{words[0], {}};
  if (!parse_number(words[1], parsed.counts.hits) || !parse_number(words[2], parsed.counts.missed)) return std::nullopt;
  return parsed;
}

}  // namespace

std::string probe_group_of(std::string_view instance) {
  std::string group(instance.substr(instance.rfind('/') + 1));
  std::ranges::replace(group, '-', '_');
  return group;
}

// Parses the kernel's list of probe events. A line is "p:GROUP/EVENT PLACE …" or "r512:GROUP/EVENT PLACE …".
std::vector<ProbeEvent> parse_probe_events(std::string_view text) {
  std::vector<ProbeEvent> events;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view head = line.substr(0, line.find(' '));
    const std::size_t colon = head.find(':');
    const std::size_t slash = head.find('/');
    if (colon == std::string_view::npos || slash == std::string_view::npos || slash < colon) continue;
    events.push_back({std::string(head.substr(colon + 1, slash - colon - 1)), std::string(head.substr(slash + 1))});
  }
  return events;
}

// Opens the file for appending, because truncating it would remove the probes of all users.
void add_probe_event(const std::string& tracefs, const std::string& line) {
  const std::string path = tracefs + "/kprobe_events";
  write_all(open_file(path, O_WRONLY | O_APPEND).get(), line + "\n", path);
}

std::string last_refusal(const std::string& tracefs) {
  const std::string log = try_read_file(tracefs + "/error_log").value_or("");
  const std::size_t at = log.rfind("error: ");
  if (at == std::string::npos) return "the kernel gives no reason";
  return std::string(trim(std::string_view(log).substr(at + 7, log.find('\n', at) - at - 7)));
}

std::vector<ProbeCounts> parse_probe_counts(std::string_view events_text, std::string_view profile,
                                            std::string_view group) {
  const std::vector<ProbeEvent> events = parse_probe_events(events_text);
  std::vector<ProbeCounts> counts;
  std::size_t next = 0;
  for (const std::string_view text : split(profile, '\n')) {
    const std::optional<ProfileLine> line = parse_profile_line(text);
    if (!line) continue;
    if (next >= events.size() || events[next].name != line->name) return {};
    if (events[next++].group == group) counts.push_back(line->counts);
  }
  return next == events.size() ? counts : std::vector<ProbeCounts>{};
}

std::uint64_t missed_calls(std::span<const ProbeCounts> probes) {
  if (probes.empty()) return 0;
  std::uint64_t begins = 0;
  for (const ProbeCounts& probe : probes.subspan(1)) begins = std::max(begins, probe.missed);
  return probes.front().missed + begins;
}

bool remove_probe_events(const std::string& tracefs, const std::string& group) {
  const std::optional<std::string> text = try_read_file(tracefs + "/kprobe_events");
  if (!text || text->find(group) == std::string::npos) return true;
  std::set<std::string> names;
  for (const ProbeEvent& event : parse_probe_events(*text))
    if (event.group == group) names.insert(event.name);
  bool all = true;
  for (const std::string& name : names) {
    try {
      add_probe_event(tracefs, fmt::format("-:{}/{}", group, name));
    } catch (const Error&) {
      all = false;  // another user has enabled the event
    }
  }
  return all;
}

}  // namespace kmt
