// SPDX-License-Identifier: GPL-2.0-or-later
// A tracing instance with hist triggers, which count events inside the kernel (CONFIG_HIST_TRIGGERS). Events are
// neither enabled nor written to the ring buffer.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "capture/counting/hist_text.hpp"
#include "capture/features/events.hpp"
#include "capture/ftrace/watcher.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

// Returns why hist triggers cannot count here; empty if they can.
std::string why_no_hist_triggers(const std::string& tracefs);

class HistInstance {
 public:
  // Throws Error.
  explicit HistInstance(const std::string& tracefs);

  // Adds a trigger such as "keys=order:size=128", with a filter that may be empty. Throws Error.
  void add(const EventName& event, const std::string& trigger, const std::string& filter) const;
  std::vector<HistTable> read(const EventName& event) const;
  const std::string& tracefs() const { return tracefs_; }

 private:
  std::string tracefs_;
  // Created before the instance and destroyed after it, so that it removes the instance if this process is killed.
  Watcher watcher_;
  TracefsInstance instance_;
};

// An event with the names of its fields.
struct DescribedEvent {
  EventName event;
  std::vector<std::string> fields;

  bool has(std::string_view field) const;
};
// Reads the fields of an event from its format file. Returns no fields if the kernel has no such event.
DescribedEvent describe_event(const std::string& tracefs, const EventName& event);

// Returns the filter for failed allocations of an event; empty if its allocations never fail.
std::string failure_filter(const DescribedEvent& event);
// Returns the filter for the opposite of failure_filter().
std::string success_filter(const DescribedEvent& event);

// The tasks that are selected, and their descendants. hist triggers ignore set_event_pid, so tables have a key for the
// task, and a table of forks shows the descendants.
class FollowedTasks {
 public:
  // Follows forks from now on. Adds all threads of the processes. Throws Error.
  FollowedTasks(const HistInstance& instance, const std::vector<pid_t>& processes);

  bool selects() const { return !tasks_.empty(); }
  // Adds the tasks that were forked since the last call.
  void update(const HistInstance& instance);
  // True if the task is followed, or if no tasks are selected.
  bool has(pid_t task) const;
  // Returns how many forks are not in the table, because it is full.
  std::uint64_t lost() const { return lost_; }

 private:
  std::set<pid_t> tasks_;
  std::uint64_t lost_ = 0;
};

}  // namespace kmt
