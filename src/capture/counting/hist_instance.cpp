// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/counting/hist_instance.hpp"

#include <algorithm>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/sideband/process_facts.hpp"

namespace kmt {

namespace {

const EventName kFork{"sched", "sched_process_fork"};

std::string file_of(const EventName& event, const char* name) {
  return fmt::format("events/{}/{}/{}", event.system, event.name, name);
}

}  // namespace

std::string why_no_hist_triggers(const std::string& tracefs) {
  if (may_access(fmt::format("{}/{}", tracefs, file_of({"kmem", "kmalloc"}, "hist")), F_OK)) return {};
  return "this kernel has no hist triggers (CONFIG_HIST_TRIGGERS)";
}

HistInstance::HistInstance(const std::string& tracefs)
    : tracefs_(tracefs), watcher_(instance_use(tracefs, "")), instance_(tracefs) {}

void HistInstance::add(const EventName& event, const std::string& trigger, const std::string& filter) const {
  const std::string path = instance_.file(file_of(event, "trigger"));
  const std::string text = fmt::format("hist:{}{}{}", trigger, filter.empty() ? "" : " if ", filter);
  try {
    write_all(open_file(path, O_WRONLY | O_APPEND).get(), text, path);
  } catch (const Error& error) {
    throw Error(fmt::format("The kernel refuses the trigger \"{}\" of {}: {}", text, to_string(event), error.what()),
                ExitCode::unsupported)
        .hint("--backend ring-buffer counts events without triggers");
  }
}

std::vector<HistTable> HistInstance::read(const EventName& event) const {
  return parse_hist(read_file(instance_.file(file_of(event, "hist"))));
}

bool DescribedEvent::has(std::string_view field) const { return std::ranges::find(fields, field) != fields.end(); }

DescribedEvent describe_event(const std::string& tracefs, const EventName& event) {
  DescribedEvent described{event, {}};
  const std::string text = try_read_file(fmt::format("{}/{}", tracefs, file_of(event, "format"))).value_or("");
  // A line is "\tfield:unsigned long call_site;\toffset:8;…".
  for (std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find("field:");
    if (at == std::string_view::npos) continue;
    line = line.substr(at, line.find(';') - at);
    line = line.substr(0, line.find('['));
    described.fields.emplace_back(line.substr(line.find_last_of(" *:") + 1));
  }
  return described;
}

namespace {

// Returns a condition that compares a field of the event, or an empty text. `is` is true for failed allocations.
std::string outcome_filter(const DescribedEvent& event, bool is_failure) {
  const char* const equal = is_failure ? "==" : "!=";
  if (event.event.name == "mm_page_alloc" && event.has("pfn"))
    return fmt::format("pfn {} {:#x}", equal, ~0ul);  // -1UL: no page
  if (event.event.name.starts_with("k") && event.has("bytes_alloc") && event.has("ptr"))
    return fmt::format("ptr {} 0", equal);
  if (event.event.name == "alloc_vmap_area" && event.has("failed")) return is_failure ? "failed != 0" : "failed == 0";
  return {};
}

}  // namespace

std::string failure_filter(const DescribedEvent& event) { return outcome_filter(event, true); }
std::string success_filter(const DescribedEvent& event) { return outcome_filter(event, false); }

FollowedTasks::FollowedTasks(const HistInstance& instance, const std::vector<pid_t>& processes) {
  if (processes.empty()) return;
  instance.add(kFork, "keys=parent_pid,child_pid:size=65536", "");
  for (const pid_t process : processes)
    for (const pid_t thread : threads_of(std::to_string(process))) tasks_.insert(thread);
  tasks_.insert(processes.begin(), processes.end());
}

void FollowedTasks::update(const HistInstance& instance) {
  if (!selects()) return;
  std::multimap<pid_t, pid_t> children;
  for (const HistTable& table : instance.read(kFork)) {
    lost_ = table.dropped;
    for (const HistEntry& entry : table.entries)
      children.emplace(static_cast<pid_t>(entry.key_number("parent_pid")),
                       static_cast<pid_t>(entry.key_number("child_pid")));
  }
  std::vector<pid_t> open(tasks_.begin(), tasks_.end());
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    for (auto [child, end] = children.equal_range(parent); child != end; ++child)
      if (tasks_.insert(child->second).second) open.push_back(child->second);
  }
}

bool FollowedTasks::has(pid_t task) const { return !selects() || tasks_.contains(task); }

}  // namespace kmt
