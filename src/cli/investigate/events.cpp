// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/events.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/events.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

std::string any_of(const char* field, const std::vector<std::string>& values) {
  std::vector<std::string> terms;
  terms.reserve(values.size());
  for (const std::string& value : values) terms.push_back(fmt::format("{} == {}", field, value));
  return fmt::format("{}", fmt::join(terms, " || "));
}

// Returns the sizes of the caches' objects, with padding, from slabinfo. Some kernels do not name the cache in
// allocation events. For such a kernel, the events are selected by these sizes.
std::vector<std::string> object_bytes(const std::vector<std::string>& caches, const StateSample& snapshot) {
  std::vector<std::string> sizes;
  for (const SlabInfo& cache : parse_slabinfo(text_of(snapshot, "slabinfo")).caches)
    if (std::ranges::find(caches, cache.name) != caches.end()) sizes.push_back(std::to_string(cache.object_bytes));
  return sizes;
}

}  // namespace

void select_events(const Narrowing& narrowing, const std::string& tracefs, const StateSample& snapshot,
                   RecordOptions& options) {
  const std::vector<EventName> available = available_events(tracefs);
  const auto add = [&](const char* name, const std::string& filter) {
    const EventName event{std::string(name).substr(0, std::string_view(name).find(':')),
                          std::string(name).substr(std::string_view(name).find(':') + 1)};
    if (std::ranges::find(available, event) == available.end()) return;
    options.events.emplace_back(name);
    if (!filter.empty()) options.filters.push_back(fmt::format("{}:{}", name, filter));
  };
  const auto names_caches = [&](const char* event) {
    const std::string format = try_read_file(fmt::format("{}/events/kmem/{}/format", tracefs, event)).value_or("");
    return format.find(" name;") != std::string::npos;
  };
  if (!narrowing.caches.empty() || !narrowing.object_sizes.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& cache : narrowing.caches) quoted.push_back('"' + cache + '"');
    const std::string by_name = any_of("name", quoted);
    std::vector<std::string> sizes = object_bytes(narrowing.caches, snapshot);
    for (const std::uint64_t size : narrowing.object_sizes) sizes.push_back(std::to_string(size));
    const bool is_named = !quoted.empty() && names_caches("kmem_cache_alloc");
    // Adds no event if there is neither a name nor a size to filter by, because such a recording would be too large.
    if (const std::string allocated = is_named ? by_name : any_of("bytes_alloc", sizes); !allocated.empty()) {
      add("kmem:kmem_cache_alloc", allocated);
      add("kmem:kmem_cache_alloc_node", allocated);
      add("kmem:kmem_cache_free", is_named && names_caches("kmem_cache_free") ? by_name : "");
    }
  }
  if (!narrowing.sizes.empty()) {
    std::vector<std::string> sizes;
    for (const std::uint64_t size : narrowing.sizes) sizes.push_back(std::to_string(size));
    add("kmem:kmalloc", any_of("bytes_alloc", sizes));
    add("kmem:kmalloc_node", any_of("bytes_alloc", sizes));
    add("kmem:kfree", "");
  }
  if (narrowing.pages || !narrowing.orders.empty()) {
    std::vector<std::string> orders;
    for (const std::uint64_t order : narrowing.orders) orders.push_back(std::to_string(order));
    const std::string of_orders = narrowing.pages ? "" : any_of("order", orders);
    // Excludes pages with __GFP_MOVABLE, which are user memory and the page cache.
    const std::string no_users = "!(gfp_flags & 8)";
    add("kmem:mm_page_alloc", of_orders.empty() ? no_users : fmt::format("{} && ({})", no_users, of_orders));
    // The kernel may split a block of pages and free it in smaller pieces. So a free may have a smaller order than the
    // allocation, but never a larger one.
    add("kmem:mm_page_free", narrowing.pages ? "" : fmt::format("order <= {}", std::ranges::max(narrowing.orders)));
  }
  if (options.events.empty())
    throw Error(
        "Trace events before Linux 6.1 do not name the cache, and the size of its objects is unknown without slabinfo");
  // Events of tasks that wait for memory are rare. Events of scanned pages are not needed, and may be frequent.
  for (const EventName& event : stall_events(tracefs, available).present)
    if (event.name != "mm_vmscan_lru_shrink_inactive") add(to_string(event).c_str(), "");
  // these two events give the names of tasks and their processes
  add("task:task_newtask", "");
  add("task:task_rename", "");
}

}  // namespace kmt
