// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/counting/hist_counters.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/counting/hist_instance.hpp"
#include "capture/counting/task_process.hpp"
#include "capture/ftrace/event_filters.hpp"

namespace kmt {

namespace {

constexpr const char* kFewEntries = "size=128";  // the smallest table that the kernel accepts
constexpr const char* kSomeEntries = "size=2048";
constexpr const char* kManyEntries = "size=16384";
constexpr const char* kInInterrupt = "common_flags & 0x18";  // TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ
constexpr std::uint64_t kHardIrq = 0x08;

std::string all_true(const std::vector<std::string>& conditions) {
  std::vector<std::string> given;
  for (const std::string& condition : conditions)
    if (!condition.empty()) given.push_back(fmt::format("({})", condition));
  return fmt::format("{}", fmt::join(given, " && "));
}

// Excludes the events of this process, as in a recording. Its frees are kept.
std::string without_own(const EventName& event) {
  return frees_memory(event) ? std::string() : filter_without({::getpid()}).value_or("");
}

// The fields of an event that contain bytes. Empty if the event has no such field.
struct ByteFields {
  std::string requested;
  std::string allocated;
  bool by_order = false;  // the bytes are those of a block of 2^order pages
};

ByteFields byte_fields_of(const DescribedEvent& event) {
  ByteFields fields;
  if (event.event.name == "rss_stat") return fields;  // `size` is a counter of the process
  for (const char* const name : {"size", "bytes_req"})
    if (event.has(name)) fields.requested = name;
  fields.allocated = event.has("bytes_alloc") ? "bytes_alloc" : fields.requested;
  fields.by_order = fields.requested.empty() && event.has("order");
  return fields;
}

std::string values_of(const ByteFields& fields) {
  if (fields.requested.empty()) return {};
  return fields.requested == fields.allocated ? ":vals=" + fields.requested
                                              : fmt::format(":vals={},{}", fields.requested, fields.allocated);
}

// True for events that most tasks cause. The kernel allocates a table as a whole, about 0.3 KiB an entry.
bool is_frequent(std::string_view event) {
  return event.starts_with("kmalloc") || event.starts_with("kmem_cache_") || event == "kfree" ||
         event.starts_with("mm_page_");
}

struct CountedEvent {
  DescribedEvent described;
  ByteFields fields;
  bool is_failure = false;  // every event is a failed allocation
  std::string failure;      // filter of the table of failures; empty if there is none
};

// Returns the bytes of a block of pages.
std::uint64_t bytes_of_order(std::uint64_t order) {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) << std::min<std::uint64_t>(order, 32);
}

bool is_of_failures(const HistTable& table, const std::string& failure) {
  return !failure.empty() && table.filter().starts_with(failure);
}

class HistEventCounters : public EventCounting {
 public:
  HistEventCounters(const std::string& tracefs, const std::vector<EventName>& events,
                    const std::vector<pid_t>& processes)
      : instance_(tracefs), followed_(instance_, processes) {
    for (const EventName& event : events) add(event);
    if (events_.empty()) throw Error("This kernel has no memory events", ExitCode::unsupported);
  }

  std::vector<EventCount> read() override {
    lost_ = 0;
    std::vector<std::vector<HistTable>> tables;
    tables.reserve(events_.size());
    for (const CountedEvent& event : events_) tables.push_back(instance_.read(event.described.event));
    followed_.update(instance_);  // after the tables, so that they have no task that is not known yet
    std::vector<EventCount> counts;
    for (std::size_t i = 0; i < events_.size(); ++i) counts.push_back(count_of(events_[i], tables[i]));
    return counts;
  }
  std::uint64_t not_followed() const override { return followed_.lost(); }
  std::uint64_t lost() const override { return lost_; }
  const std::vector<EventName>& missing() const override { return missing_; }
  std::optional<std::uint64_t> kernel_memory() const override { return {}; }

 private:
  void add(const EventName& event);
  EventCount count_of(const CountedEvent& event, const std::vector<HistTable>& tables);

  HistInstance instance_;
  FollowedTasks followed_;
  std::vector<CountedEvent> events_;
  std::vector<EventName> missing_;
  std::uint64_t lost_ = 0;
};

void HistEventCounters::add(const EventName& name) {
  CountedEvent event{describe_event(instance_.tracefs(), name), {}, false, {}};
  if (event.described.fields.empty()) return missing_.push_back(name);
  event.fields = byte_fields_of(event.described);
  event.is_failure = name.name == "percpu_alloc_percpu_fail";
  std::vector<std::string> keys;
  if (followed_.selects()) keys.emplace_back("common_pid");
  if (event.fields.by_order) keys.emplace_back("order");
  if (keys.empty()) keys.emplace_back("common_type");  // the same for all events: the table has one entry
  const std::string table = fmt::format("keys={}{}:{}", fmt::join(keys, ","), values_of(event.fields),
                                        !followed_.selects()     ? kFewEntries
                                        : is_frequent(name.name) ? kManyEntries
                                                                 : kSomeEntries);
  const std::string own = without_own(name);
  instance_.add(name, table, all_true({success_filter(event.described), own}));
  if (const std::string failure = failure_filter(event.described); !failure.empty()) {
    event.failure = fmt::format("({})", failure);
    instance_.add(name, table, all_true({failure, own}));
  }
  events_.push_back(std::move(event));
}

EventCount HistEventCounters::count_of(const CountedEvent& event, const std::vector<HistTable>& tables) {
  EventCount count;
  count.event = event.described.event;
  count.has_bytes = !event.is_failure && (event.fields.by_order || !event.fields.requested.empty());
  count.may_fail = event.is_failure || !event.failure.empty();
  for (const HistTable& table : tables) {
    lost_ += table.dropped;
    const bool failed = event.is_failure || is_of_failures(table, event.failure);
    for (const HistEntry& entry : table.entries) {
      if (!followed_.has(static_cast<pid_t>(entry.key_number("common_pid")))) continue;
      const std::uint64_t hits = entry.number("hitcount");
      count.events += hits;
      if (failed) count.failed += hits;
      if (failed || !count.has_bytes) continue;
      const std::uint64_t of_pages = event.fields.by_order ? hits * bytes_of_order(entry.key_number("order")) : 0;
      count.requested += of_pages + entry.number(event.fields.requested);
      count.allocated += of_pages + entry.number(event.fields.allocated);
    }
  }
  return count;
}

// Counts allocations by call site, task and size, or by interrupt.
class HistSiteCounters : public SiteCounting {
 public:
  HistSiteCounters(const std::string& tracefs, const std::vector<pid_t>& processes, bool only_kernel_pages)
      : instance_(tracefs), followed_(instance_, processes) {
    for (const char* const name :
         {"kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node", "mm_page_alloc"})
      add({"kmem", name}, only_kernel_pages);
    if (events_.empty()) throw Error("This kernel has no memory events", ExitCode::unsupported);
    take_sites();  // creating the tables has caused events
  }

  std::vector<HeapSite> take_sites() override;
  HeapLosses losses() const override {
    HeapLosses losses;
    losses.sites = lost_;
    losses.not_followed_processes = followed_.lost();
    return losses;
  }
  std::optional<std::uint64_t> kernel_memory() const override { return {}; }

 private:
  using Sums = std::array<std::uint64_t, 3>;  // events, requested bytes, allocated bytes

  void add(const EventName& name, bool only_kernel_pages);
  HeapSite site_of(const CountedEvent& event, const HistEntry& entry, const Sums& sums, bool failed);

  HistInstance instance_;
  FollowedTasks followed_;
  TaskProcesses processes_;
  std::vector<CountedEvent> events_;
  std::map<std::string, Sums> known_;  // key: trigger and keys of an entry
  std::uint64_t lost_ = 0;
};

void HistSiteCounters::add(const EventName& name, bool only_kernel_pages) {
  CountedEvent event{describe_event(instance_.tracefs(), name), {}, false, {}};
  if (event.described.fields.empty()) return;
  event.fields = byte_fields_of(event.described);
  const bool pages = event.fields.by_order;
  // The kernel allows at most three keys. A cache's name identifies the size of its objects.
  const std::string first = pages ? "order" : "call_site";
  const std::string last = pages ? "" : event.described.has("name") ? ",name" : "," + event.fields.allocated;
  const std::string own = without_own(name);
  const std::string kernel_only =
      pages && only_kernel_pages && event.described.has("migratetype") ? "migratetype != 1" : "";
  const std::string success = success_filter(event.described);
  const std::string values = values_of(event.fields);
  const auto add_table = [&](const char* task, const std::string& outcome, const std::string& context) {
    instance_.add(name, fmt::format("keys={},{}{}{}:{}", first, task, last, values, kManyEntries),
                  all_true({outcome, context, kernel_only, own}));
  };
  constexpr const char* kTask = "common_pid.execname";
  if (followed_.selects()) {
    add_table(kTask, success, "");
  } else {
    add_table(kTask, success, fmt::format("!({})", kInInterrupt));
    add_table("common_flags", success, kInInterrupt);
  }
  if (const std::string failure = failure_filter(event.described); !failure.empty()) {
    event.failure = fmt::format("({})", failure);
    add_table(kTask, failure, "");
  }
  events_.push_back(std::move(event));
}

HeapSite HistSiteCounters::site_of(const CountedEvent& event, const HistEntry& entry, const Sums& sums, bool failed) {
  HeapSite site;
  site.call_site = entry.key_number("call_site");
  site.pages = event.fields.by_order;
  site.events = sums[0];
  site.failed = failed ? sums[0] : 0;
  site.bytes_each = site.pages ? bytes_of_order(entry.key_number("order")) : entry.key_number(event.fields.allocated);
  if (!failed) {
    site.requested = site.pages ? sums[0] * site.bytes_each : sums[1];
    site.allocated = site.pages ? sums[0] * site.bytes_each : sums[2];
  }
  if (const auto name = entry.keys.find("name"); name != entry.keys.end())
    site.cache = name->second;
  else if (event.described.event.name.starts_with("kmem_cache"))
    site.cache = unnamed_cache(site.bytes_each);
  if (entry.keys.contains("common_flags")) {
    const bool hard = (entry.key_number("common_flags") & kHardIrq) != 0;
    site.context = hard ? AllocationContext::hardirq : AllocationContext::softirq;
    return site;
  }
  // The value is "NAME [PID]".
  const std::string_view task = entry.keys.find("common_pid")->second;
  const std::size_t open = task.rfind('[');
  const auto id = parse_leading<pid_t>(trim(task.substr(std::min(open, task.size() - 1) + 1)));
  const TaskProcess process = processes_.of(id.value_or(0), trim(task.substr(0, open)));
  site.process = process.id;
  site.comm = process.comm;
  return site;
}

std::vector<HeapSite> HistSiteCounters::take_sites() {
  std::vector<std::vector<HistTable>> tables;
  tables.reserve(events_.size());
  for (const CountedEvent& event : events_) tables.push_back(instance_.read(event.described.event));
  followed_.update(instance_);  // after the tables, so that they have no task that is not known yet
  processes_.begin_interval();
  std::vector<HeapSite> sites;
  lost_ = 0;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const CountedEvent& event = events_[i];
    for (const HistTable& table : tables[i]) {
      lost_ += table.dropped;
      const bool failed = is_of_failures(table, event.failure);
      for (const HistEntry& entry : table.entries) {
        std::string key = event.described.event.name + table.trigger;
        for (const auto& [name, value] : entry.keys) key += '\n' + value;
        const Sums now = {entry.number("hitcount"), entry.number(event.fields.requested),
                          entry.number(event.fields.allocated)};
        Sums& known = known_[std::move(key)];
        const Sums fresh = {now[0] - known[0], now[1] - known[1], now[2] - known[2]};
        known = now;
        if (fresh[0] == 0) continue;
        // A task may have a name that makes its line unreadable.
        if (!entry.keys.contains("common_pid") && !entry.keys.contains("common_flags")) {
          lost_ += fresh[0];
          continue;
        }
        HeapSite site = site_of(event, entry, fresh, failed);
        if (followed_.has(static_cast<pid_t>(site.process))) sites.push_back(std::move(site));
      }
    }
  }
  return sites;
}

}  // namespace

std::unique_ptr<EventCounting> count_by_hist(const std::string& tracefs, const std::vector<EventName>& events,
                                             const std::vector<pid_t>& processes) {
  return std::make_unique<HistEventCounters>(tracefs, events, processes);
}

std::unique_ptr<SiteCounting> count_sites_by_hist(const std::string& tracefs, const std::vector<pid_t>& processes,
                                                  bool only_kernel_pages) {
  return std::make_unique<HistSiteCounters>(tracefs, processes, only_kernel_pages);
}

}  // namespace kmt
