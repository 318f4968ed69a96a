// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/older_frees.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "results/series/thresholds.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kCacheBit = std::uint64_t{1} << 32;

CountByThird by_third(const TimeSeries& series, const TimeBuckets& clock) {
  CountByThird counts{};
  const std::vector<TimeSeriesPoint> points = series.points(clock);
  for (std::size_t i = 0; i < points.size(); ++i) counts[i * counts.size() / points.size()] += points[i].allocations;
  return counts;
}

// Words in function names that describe an action, such as "alloc", not an object.
const std::set<std::string_view> kVerbs = {"alloc", "free", "create", "destroy", "release", "init", "new",   "get",
                                           "put",   "do",   "sys",    "info",    "data",    "open", "close", "kmem",
                                           "cache", "work", "rcu",    "call",    "func",    "fn",   "object"};

std::set<std::string> things_of(const std::string& function) {
  std::set<std::string> things;
  const std::string name(function_of(function));
  for (const std::string_view word : split(name, '_'))
    if (word.size() > 2 && !kVerbs.contains(word)) things.emplace(word);
  return things;
}

// True if fits(third, births) is true for all three thirds of the trace. The births may be in the order of time or in
// reverse order. The reverse order fits a steady state: most live objects were allocated late, and most older objects
// were freed early. So there are as many births in the last third as frees in the first third. If all objects outlive
// the trace, both counts are constant.
template <typename Fits>
bool fits_some_order(CountByThird births, Fits&& fits) {
  const auto fit = [&] {
    for (std::size_t i = 0; i < births.size(); ++i)
      if (!fits(i, static_cast<double>(births[i]))) return false;
    return true;
  };
  if (fit()) return true;
  std::ranges::reverse(births);
  return fit();
}

}  // namespace

void OlderFrees::add(CallSiteId site, CacheId cache, TimeBucket at) {
  add(site.value, at);
  if (cache.value != 0) add(kCacheBit | cache.value, at);
}

void OlderFrees::add(std::uint64_t key, TimeBucket at) {
  auto found = frees_.find(key);
  if (found == frees_.end()) {
    if (frees_.size() >= kMostKeys) return;
    found = frees_.try_emplace(key).first;
  }
  found->second.allocate(at, 1);
}

CountByThird OlderFrees::of_cache(std::uint32_t cache, const TimeBuckets& clock) const {
  const auto found = frees_.find(kCacheBit | cache);
  return found == frees_.end() ? CountByThird{} : by_third(found->second, clock);
}

std::vector<std::pair<CallSiteId, CountByThird>> OlderFrees::sites(const TimeBuckets& clock) const {
  std::vector<std::pair<CallSiteId, CountByThird>> sites;
  for (const auto& [key, series] : frees_)
    if ((key & kCacheBit) == 0)
      sites.emplace_back(CallSiteId{static_cast<std::uint32_t>(key)}, by_third(series, clock));
  std::ranges::sort(sites, {}, [](const auto& site) { return site.first.value; });
  return sites;
}

bool keeps_pace(const CountByThird& older_frees, const CountByThird& births) {
  return fits_some_order(births, [&older_frees](std::size_t third, double born) {
    return older_frees[third] > 0 && static_cast<double>(older_frees[third]) >= kThresholds.pace_of_older * born;
  });
}

bool have_same_pace(const CountByThird& births, const CountByThird& older_frees) {
  return fits_some_order(births, [&older_frees](std::size_t third, double born) {
    const auto freed = static_cast<double>(older_frees[third]);
    return born >= static_cast<double>(kThresholds.fewest_births) && freed >= born * (1 - kThresholds.same_pace) &&
           freed <= born * (1 + kThresholds.same_pace);
  });
}

bool name_same_thing(const std::string& allocating, const std::string& freeing) {
  const std::set<std::string> things = things_of(allocating);
  return std::ranges::any_of(things_of(freeing),
                             [&things](const std::string& thing) { return things.contains(thing); });
}

}  // namespace kmt
