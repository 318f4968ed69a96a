// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/replaced_objects.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <variant>

#include "analysis/matching/slab_account.hpp"
#include "results/series/thresholds.hpp"
#include "trace/code/function_name.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

ReplacedObjects::Births& ReplacedObjects::Births::operator+=(const Births& other) {
  allocations += other.allocations;
  for (std::size_t i = 0; i < live.size(); ++i) live[i] += other.live[i];
  return *this;
}

ReplacedObjects::ReplacedObjects(const HistorySources& from)
    : from_(from), older_by_site_(from.history.older_frees().sites(*from.history.clock())) {
  find_caches_of_sites();
  count_births();
  find_older_by_size();
}

std::uint32_t ReplacedObjects::cache_of(std::uint32_t number) const {
  const Origin& origin = from_.origins[number];
  if (!origin.from_cache || origin.cache != 0) return origin.cache;
  if (number < from_.history.reuse().size() && from_.history.reuse()[number].cache != 0)
    return from_.history.reuse()[number].cache;
  const auto known = cache_of_site_.find(origin.call_site.value);
  return known == cache_of_site_.end() ? 0 : known->second;
}

// Finds the caches of call sites whose function names the cache. Needed for Linux 6.1, whose allocation events lack it.
void ReplacedObjects::find_caches_of_sites() {
  const std::vector<std::string>& names = from_.info.tables.cache_names;
  for (const Origin& origin : from_.origins) {
    if (!origin.from_cache || origin.cache != 0 || cache_of_site_.contains(origin.call_site.value)) continue;
    const std::string site = name_of_site(origin.call_site, from_.info, from_.symbols);
    const auto found = std::ranges::find(names, only_cache_of(function_of(site)));
    cache_of_site_[origin.call_site.value] =
        found == names.end() ? 0 : static_cast<std::uint32_t>(found - names.begin());
  }
}

// Counts the live objects by the third of the time in which they were allocated.
void ReplacedObjects::count_births() {
  births_of_origin_.resize(from_.origins.size());
  const TimeBuckets& clock = *from_.history.clock();
  const std::uint64_t length = std::max<std::uint64_t>(clock.end_ns() - clock.start_ns(), 1);
  from_.matching.for_each_live(
      [&](Allocator allocator, std::uint32_t number, std::uint64_t began_ns, std::uint64_t, bool head) {
        if (number == 0 || !head) return;
        const std::uint64_t since_start = began_ns > clock.start_ns() ? began_ns - clock.start_ns() : 0;
        const auto third = static_cast<std::size_t>(std::min<std::uint64_t>(since_start / (length / 3 + 1), 2));
        ++births_of_origin_[number][third];
        if (allocator != Allocator::slab) return;
        ++births_of_site_[from_.origins[number].call_site.value][third];
        if (const std::uint32_t cache = cache_of(number); cache != 0)
          ++births_of_cache_[cache][third];
        else if (from_.origins[number].from_cache)
          ++births_of_size_[from_.origins[number].bytes_allocated][third];
      });
}

void ReplacedObjects::find_older_by_size() {
  if (births_of_size_.empty() || from_.info.recording.samples.empty()) return;
  const std::vector<std::string>& names = from_.info.tables.cache_names;
  for (const SlabInfo& info : parse_slabinfo(text_of(from_.info.recording.samples.front(), "slabinfo")).caches) {
    const auto cache = static_cast<std::uint32_t>(std::ranges::find(names, info.name) - names.begin());
    if (cache == 0 || cache >= names.size() || births_of_cache_.contains(cache)) continue;
    const CountByThird older = from_.history.older_frees().of_cache(cache, *from_.history.clock());
    CountByThird& sum = older_of_size_[info.object_bytes];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += older[i];
  }
}

bool ReplacedObjects::replace_older_of_size(std::uint64_t bytes) const {
  const auto births = births_of_size_.find(bytes);
  const auto older = older_of_size_.find(bytes);
  return births != births_of_size_.end() && older != older_of_size_.end() &&
         have_same_pace(births->second, older->second);
}

bool ReplacedObjects::replace_older(std::uint32_t number) {
  const std::uint32_t cache = cache_of(number);
  const Origin& origin = from_.origins[number];
  const auto key = cache == 0 ? std::tuple(0u, origin.call_site.value, origin.bytes_allocated)
                              : std::tuple(cache, 0u, std::uint64_t{0});
  const auto [known, is_new] = replaced_.try_emplace(key, false);
  if (is_new) known->second = find_replaced(number);
  return known->second;
}

bool ReplacedObjects::find_replaced(std::uint32_t number) const {
  const OlderFrees& older = from_.history.older_frees();
  if (const auto births = births_of_cache_.find(cache_of(number)); births != births_of_cache_.end())
    return keeps_pace(older.of_cache(births->first, *from_.history.clock()), births->second);
  const Origin& origin = from_.origins[number];
  if (origin.from_cache && replace_older_of_size(origin.bytes_allocated)) return true;
  const CallSiteId site = origin.call_site;
  const auto births = births_of_site_.find(site.value);
  return births != births_of_site_.end() && std::ranges::any_of(older_by_site_, [&](const auto& freeing) {
           return have_same_pace(births->second, freeing.second) &&
                  name_same_thing(name_of_site(site, from_.info, from_.symbols),
                                  name_of_site(freeing.first, from_.info, from_.symbols));
         });
}

std::vector<std::string> ReplacedObjects::frames_of(const Origin& origin) const {
  std::vector<std::string> frames;
  const auto add = [&frames](const CodeAddress& code) {
    if (code.object.empty()) frames.push_back(code.symbol);
  };
  for (const KeyValue& value : from_.grouping.values_of(origin.group, from_.symbols))
    if (const auto* const stack = std::get_if<std::vector<CodeAddress>>(&value))
      std::ranges::for_each(relevant_frames(*stack), add);
  if (frames.empty()) frames.push_back(name_of_site(origin.call_site, from_.info, from_.symbols));
  // If the report is not grouped by stack, only the use of the pages shows that copy_process() allocated them.
  if (origin.page_use == PageUse::task_stack) frames.emplace_back("copy_process");
  return frames;
}

ReplacedObjects::Calls ReplacedObjects::calls_of(const Origin& origin) const {
  const std::vector<std::string> frames = frames_of(origin);
  Calls calls;
  calls.place = std::string(kmt::name_of(origin.allocator)) + " " + frames.front();
  const auto add = [&](std::string_view call) {
    if (const auto found = companions_of_call_.find(call); found != companions_of_call_.end())
      calls.companions.insert(calls.companions.end(), found->second.begin(), found->second.end());
  };
  for (const std::string& frame : frames) {
    add(frame);
    add(function_of(frame));
  }
  // Remove duplicates: a function that calls itself, or a frame without an offset, adds the same call twice.
  std::ranges::sort(calls.companions);
  calls.companions.erase(std::unique(calls.companions.begin(), calls.companions.end()), calls.companions.end());
  return calls;
}

const ReplacedObjects::Calls& ReplacedObjects::calls_of(std::uint32_t number) {
  const Origin& origin = from_.origins[number];
  const auto [known, is_new] = calls_.try_emplace({origin.group, origin.call_site.value});
  if (is_new) known->second = calls_of(origin);
  return known->second;
}

void ReplacedObjects::find_companions() {
  has_companions_ = true;
  const auto births_of = [this](std::uint32_t number) {
    const std::vector<History::Reuse>& counts = from_.history.reuse();
    return Births{number < counts.size() ? counts[number].allocations : 0, births_of_origin_[number]};
  };
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> known;  // key: call and cache
  const auto add = [&](std::string call, std::uint32_t number) {
    if (call.empty()) return;
    const auto [index, is_new] =
        known.try_emplace({call, cache_of(number)}, static_cast<std::uint32_t>(companions_.size()));
    if (is_new) {
      companions_.emplace_back();
      companions_of_call_[std::move(call)].push_back(index->second);
    }
    companions_[index->second].births += births_of(number);
  };
  for (std::uint32_t number = 1; number < from_.origins.size(); ++number) {
    const Origin& origin = from_.origins[number];
    if (origin.allocator != Allocator::slab || !origin.from_cache || !replace_older(number)) continue;
    const std::vector<std::string> frames = frames_of(origin);
    add(std::string(function_of(frames.front())), number);
    if (frames.size() > 1) add(frames[1], number);
  }
  if (companions_.empty()) return;
  for (std::uint32_t number = 1; number < from_.origins.size(); ++number) {
    if (from_.origins[number].from_cache || births_of_origin_[number] == CountByThird{}) continue;
    const Calls& calls = calls_of(number);
    for (const std::uint32_t companion : calls.companions)
      companions_[companion].others[calls.place] += births_of(number);
  }
}

// True if the live companions explain all live objects. The ratio of allocations shows how many objects a call
// allocates for each companion. It is at least 1, because a task may get a freed stack without an allocation.
bool ReplacedObjects::are_no_more(const Births& births, const Births& companion) {
  const double for_each =
      static_cast<double>(births.allocations) / static_cast<double>(std::max<std::uint64_t>(companion.allocations, 1));
  const double most = std::max(for_each, 1.0) * (1 + kThresholds.same_pace);
  for (std::size_t i = 0; i < births.live.size(); ++i)
    if (static_cast<double>(births.live[i]) > most * static_cast<double>(companion.live[i]) + 1) return false;
  return true;
}

bool ReplacedObjects::accompany_replaced(std::uint32_t number) {
  if (from_.origins[number].from_cache) return false;
  if (!has_companions_) find_companions();
  if (companions_.empty()) return false;
  const Calls& calls = calls_of(number);
  return std::ranges::any_of(calls.companions, [&](std::uint32_t index) {
    const Companion& companion = companions_[index];
    const auto others = companion.others.find(calls.place);
    return others == companion.others.end() || are_no_more(others->second, companion.births);
  });
}

}  // namespace kmt
