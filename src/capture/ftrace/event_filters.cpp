// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/event_filters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

std::string wanted_of(const EventName& event, const std::vector<KernelFilter>& filters) {
  std::string wanted;
  for (const KernelFilter& filter : filters)
    if (filter.event == event) wanted += fmt::format("{}({})", wanted.empty() ? "" : " && ", filter.expression);
  return wanted;
}

// Sets the filter of an event. After an error, the file has the kernel's message, such as "parse_error: Field not
// found", below a line that marks the position.
void set_filter(const TracefsInstance& instance, const EventName& event, const std::string& expression) {
  const std::string file = fmt::format("events/{}/{}/filter", event.system, event.name);
  try {
    instance.set(file, expression);
  } catch (Error& error) {
    const std::string text = try_read_file(instance.file(file)).value_or("");
    const std::size_t at = text.find("parse_error:");
    if (at == std::string::npos) throw;
    throw Error(fmt::format("The kernel refuses the filter \"{}\" of {}: {}", printable(expression), to_string(event),
                            printable(trim(text.substr(at + 12)))))
        .hint(fmt::format("events/{}/{}/format in tracefs lists the fields of the event", event.system, event.name));
  }
}

}  // namespace

std::optional<std::string> filter_without(const std::vector<pid_t>& threads) {
  std::string filter = "(";
  for (const pid_t thread : threads)
    filter += fmt::format("{}common_pid != {}", filter.size() == 1 ? "" : " && ", thread);
  filter += ") || (common_flags & 0x58)";
  if (filter.size() > kMostFilterBytes) return std::nullopt;
  return filter;
}

// True for events that are recorded even if the recorder itself causes them. Stalls of the recorder are in the kernel's
// counters too, and all tasks of the machine share the memory that is short. The OOM killer runs in a task that needs
// memory, which may be the recorder.
static bool includes_recorder(const EventName& event) {
  return frees_memory(event) || event.system == "vmscan" || event.system == "compaction" || event.system == "oom";
}

bool set_event_filters(const TracefsInstance& instance, const std::vector<EventName>& events,
                       const std::vector<KernelFilter>& filters, const std::vector<pid_t>& omitted) {
  const auto without = omitted.empty() ? std::optional<std::string>("") : filter_without(omitted);
  bool by_pid_list = !without;
  for (const EventName& event : events) {
    // Sets each filter separately first. If the kernel refuses a filter, its error message is then about this filter.
    for (const KernelFilter& filter : filters)
      if (filter.event == event) set_filter(instance, event, filter.expression);
    const std::string wanted = wanted_of(event, filters);
    std::string whole = includes_recorder(event) ? "" : without.value_or("");
    if (!wanted.empty()) whole = whole.empty() ? wanted : fmt::format("({}) && ({})", wanted, whole);
    if (whole.size() > kMostFilterBytes) {
      by_pid_list = true;
      whole = wanted;
    }
    if (!whole.empty()) set_filter(instance, event, whole);
  }
  if (by_pid_list) instance.set("set_event_notrace_pid", fmt::format("{}", fmt::join(omitted, " ")));
  return by_pid_list;
}

}  // namespace kmt
