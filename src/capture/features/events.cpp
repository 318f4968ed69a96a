// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/events.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr std::array kDefaultPatterns = {
    "kmem:kmalloc",
    "kmem:kmalloc_node",
    "kmem:kfree",
    "kmem:kmem_cache_alloc",
    "kmem:kmem_cache_alloc_node",
    "kmem:kmem_cache_free",
    "kmem:mm_page_*",
    "percpu:percpu_alloc_percpu*",
    "percpu:percpu_free_percpu",
    "vmalloc:alloc_vmap_area",
    "vmalloc:free_vmap_area_noflush",
};

// From include/trace/events/vmscan.h, compaction.h and oom.h, Linux 6.18.
constexpr std::array kStallPatterns = {
    "vmscan:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin",
    "vmscan:mm_vmscan_memcg_reclaim_end",
    "vmscan:mm_vmscan_node_reclaim_begin",
    "vmscan:mm_vmscan_node_reclaim_end",
    "vmscan:mm_vmscan_kswapd_wake",
    "vmscan:mm_vmscan_kswapd_sleep",
    "vmscan:mm_vmscan_lru_shrink_inactive",
    "compaction:mm_compaction_try_to_compact_pages",
    "compaction:mm_compaction_begin",
    "compaction:mm_compaction_end",
    "compaction:mm_compaction_deferred",
    "compaction:mm_compaction_kcompactd_wake",
    "compaction:mm_compaction_kcompactd_sleep",
    "oom:mark_victim",
};
constexpr const char* kThrottled = "vmscan:mm_vmscan_throttled";
// Instead of kThrottled before Linux 5.16 (include/trace/events/writeback.h).
constexpr std::array kOldThrottled = {"writeback:writeback_congestion_wait", "writeback:writeback_wait_iff_congested"};

std::vector<std::string> subdirectories(const std::string& path) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(path, code), end; !code && at != end; at.increment(code))
    if (std::error_code ignored; at->is_directory(ignored)) names.push_back(at->path().filename());
  if (code) {
    errno = code.value();
    throw system_error("Cannot list the kernel's events", path);
  }
  return names;
}

bool is_there(const std::vector<EventName>& available, const std::string& name) {
  return std::binary_search(available.begin(), available.end(), EventName{"kmem", name});
}

bool has_node_field(const std::string& tracefs, const std::string& name) {
  const auto format = try_read_file(tracefs + "/events/kmem/" + name + "/format");
  return format && format->find(" node;") != std::string::npos;
}

std::string why_missing(const std::string& tracefs, const std::vector<EventName>& available, std::string_view pattern) {
  const std::string_view system = pattern.substr(0, pattern.find(':'));
  const bool any_of_system =
      std::any_of(available.begin(), available.end(), [system](const auto& e) { return e.system == system; });
  if (!any_of_system && system == "kmem") return "this kernel has no kmem events (built without CONFIG_EVENT_TRACING?)";
  if (!any_of_system) return fmt::format("this kernel has no {} events", system);
  constexpr std::string_view kNodeSuffix = "_node";
  if (pattern.ends_with(kNodeSuffix)) {
    std::string base(pattern.substr(0, pattern.size() - kNodeSuffix.size()));
    base.erase(0, base.find(':') + 1);
    if (is_there(available, base) && has_node_field(tracefs, base))
      return fmt::format("not needed: on this kernel, kmem:{} includes these allocations and has the node", base);
  }
  return "this kernel does not have it";
}

bool matches(const EventName& event, const std::string& pattern) {
  if (pattern.find(':') == std::string::npos) return glob_match(pattern, event.system);
  return glob_match(pattern, to_string(event));
}

// Returns the events that match the patterns, and the patterns that match no event.
DefaultEvents present_among(const std::string& tracefs, const std::vector<EventName>& available,
                            std::span<const char* const> patterns) {
  DefaultEvents chosen;
  for (const std::string pattern : patterns) {
    const std::size_t before = chosen.present.size();
    for (const EventName& event : available)
      if (matches(event, pattern)) chosen.present.push_back(event);
    if (chosen.present.size() == before) chosen.missing.push_back({pattern, why_missing(tracefs, available, pattern)});
  }
  return chosen;
}

// Counts common leading characters and common pairs of adjacent characters. This is a rough measure, but good enough
// for a hint.
unsigned likeness(const std::string& a, const std::string& b) {
  std::set<std::string> pairs;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) pairs.insert(a.substr(i, 2));
  unsigned shared = 0;
  for (std::size_t i = 0; i + 1 < b.size(); ++i) shared += pairs.erase(b.substr(i, 2)) > 0 ? 1 : 0;
  return 200 * shared / static_cast<unsigned>(a.size() + b.size());
}

Error no_such_event(const std::vector<EventName>& available, const std::string& pattern) {
  Error error(fmt::format("This kernel has no event \"{}\"", pattern));
  std::vector<std::pair<unsigned, std::string>> near;
  for (const EventName& event : available) {
    const std::string name = to_string(event);
    const unsigned score = std::max(likeness(pattern, name), likeness(pattern, event.name));
    if (score >= 50) near.emplace_back(score, name);
  }
  std::sort(near.begin(), near.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  constexpr std::size_t kShown = 4;
  near.resize(std::min(near.size(), kShown));
  std::vector<std::string> names;
  names.reserve(near.size());
  for (const auto& [score, name] : near) names.push_back(name);
  const std::string see = "`kmemtrace list events` shows all of them";
  error.hint(names.empty() ? see : fmt::format("Similar events: {}; {}", fmt::join(names, ", "), see));
  return error;
}

}  // namespace

std::string to_string(const EventName& event) { return event.system + ":" + event.name; }

// True for events of frees, which are recorded even if the recorder itself causes them. The kernel often frees objects
// in another task. For example, the next task on a CPU frees the mm_struct of a task that has ended. The task that
// fills a per-CPU list frees all objects in the list, including those of other tasks. Therefore the recorder may free
// objects whose allocations are in the trace.
bool frees_memory(const EventName& event) {
  constexpr std::array<std::string_view, 8> kFrees = {
      "kfree",           "kmem_cache_free",    "mm_page_free",          "mm_page_free_batched", "mm_page_free_direct",
      "mm_pagevec_free", "percpu_free_percpu", "free_vmap_area_noflush"};
  return std::find(kFrees.begin(), kFrees.end(), event.name) != kFrees.end();
}

std::vector<EventName> available_events(const std::string& tracefs) {
  std::vector<EventName> events;
  const std::string root = tracefs + "/events";
  // Only events of the system ftrace may lack the file "enable". These events are records of tracers. Checking the
  // 2,000 events of all systems would take 10 ms.
  const auto can_be_enabled = [&root](const std::string& system, const std::string& name) {
    return system != "ftrace" || may_access(fmt::format("{}/ftrace/{}/enable", root, name), F_OK);
  };
  for (const std::string& system : subdirectories(root))
    for (const std::string& name : subdirectories(fmt::format("{}/{}", root, system)))
      if (can_be_enabled(system, name)) events.push_back({system, name});
  std::sort(events.begin(), events.end());
  return events;
}

DefaultEvents default_events(const std::string& tracefs, const std::vector<EventName>& available) {
  return present_among(tracefs, available, kDefaultPatterns);
}

DefaultEvents stall_events(const std::string& tracefs, const std::vector<EventName>& available) {
  DefaultEvents chosen = present_among(tracefs, available, kStallPatterns);
  DefaultEvents throttled = present_among(tracefs, available, std::array{kThrottled});
  if (throttled.present.empty()) {
    const DefaultEvents old = present_among(tracefs, available, kOldThrottled);
    if (!old.present.empty()) throttled = {old.present, {}};
  }
  chosen.present.insert(chosen.present.end(), throttled.present.begin(), throttled.present.end());
  chosen.missing.insert(chosen.missing.end(), throttled.missing.begin(), throttled.missing.end());
  return chosen;
}

std::vector<EventName> select_events(const std::vector<EventName>& available,
                                     const std::vector<std::string>& patterns) {
  std::set<EventName> selected;
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const EventName& event : available) {
      if (!matches(event, pattern)) continue;
      selected.insert(event);
      any = true;
    }
    if (!any) throw no_such_event(available, pattern);
  }
  return {selected.begin(), selected.end()};
}

}  // namespace kmt
