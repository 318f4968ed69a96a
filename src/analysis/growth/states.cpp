// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/states.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "analysis/growth/rise.hpp"
#include "analysis/matching/slab_account.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

double seconds_between(const std::vector<MemorySeriesPoint>& points) {
  if (points.size() < 2) return 1;
  const double all = static_cast<double>(points.back().time_ns - points.front().time_ns) / 1e9;
  return std::max(all / static_cast<double>(points.size() - 1), 1e-9);
}

// Converts the values to equal time steps by interpolation, so that a time without values does not look like a jump.
std::vector<double> even_values(const std::vector<MemorySeriesPoint>& points) {
  const auto begin = static_cast<double>(points.front().time_ns);
  const double step = (static_cast<double>(points.back().time_ns) - begin) / static_cast<double>(points.size() - 1);
  std::vector<double> values;
  std::size_t after = 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double time = begin + step * static_cast<double>(i);
    while (after + 1 < points.size() && static_cast<double>(points[after].time_ns) < time) ++after;
    const auto before = static_cast<double>(points[after - 1].time_ns);
    const double between = static_cast<double>(points[after].time_ns) - before;
    const double part = between > 0 ? std::clamp((time - before) / between, 0.0, 1.0) : 1;
    values.push_back(std::lerp(points[after - 1].value, points[after].value, part));
  }
  return values;
}

// True for lines of meminfo that count memory of the kernel itself. All other lines are sums of these lines or count
// user memory.
bool is_kernel_memory_line(std::string_view name) {
  constexpr std::array<std::string_view, 6> kLines = {"SUnreclaim",  "KernelStack", "PageTables",
                                                      "VmallocUsed", "Percpu",      kUnaccounted};
  return std::ranges::find(kLines, name) != kLines.end();
}

using Kinds = std::map<std::string, std::vector<double>>;  // values over time, by cache name

// Returns the cache that accounts for nearly all growth of its class, or null if there is no such cache. The values of
// this cache are more useful than those of the whole class: changes of other caches do not hide the growth.
const Kinds::value_type* risen_kind(const Kinds& kinds) {
  const auto rise = [](const Kinds::value_type& kind) { return kind.second.back() - kind.second.front(); };
  double all = 0;
  const Kinds::value_type* most = nullptr;
  for (const Kinds::value_type& kind : kinds) {
    all += std::max(rise(kind), 0.0);
    if (most == nullptr || rise(kind) > rise(*most)) most = &kind;
  }
  return all > 0 && rise(*most) >= kThresholds.nearly_all_of_class * all ? most : nullptr;
}

// True if nearly the whole rise is one step between these two times, and any other change is much smaller.
bool is_step(const StateGrowth& state, double begin, double end) {
  constexpr double kNearlyAll = kThresholds.recorders_jump;
  const auto index = [&state](double step) {
    return static_cast<std::size_t>(std::clamp(step, 0.0, static_cast<double>(state.values.size() - 1)));
  };
  const std::size_t from = index(std::floor(begin));
  const std::size_t to = index(std::ceil(end));
  const double jump = state.values[to] - state.values[from];
  const double rise = state.last - state.first;
  if (jump < kNearlyAll * rise || kNearlyAll * jump > rise) return false;
  for (std::size_t i = 1; i < state.values.size(); ++i)
    if ((i <= from || i > to) &&
        std::abs(state.values[i] - state.values[i - 1]) > kThresholds.recorders_other_moves * jump)
      return false;
  return true;
}

}  // namespace

std::string class_of(const std::string& cache) {
  constexpr std::array<std::string_view, 3> kKinds = {"kmalloc-", "msg_msg-", "memdup_user-"};
  if (std::ranges::none_of(kKinds, [&cache](std::string_view kind) { return cache.starts_with(kind); }) ||
      cache.starts_with("kmalloc-rcl-") || cache.find("dma") != std::string::npos)
    return cache;
  try {
    return kmalloc_name(parse_size(cache.substr(cache.rfind('-') + 1)));
  } catch (const Error&) {
    return cache;
  }
}

bool is_of_a_size(std::string_view name) { return name.starts_with(kObjectsOf); }

bool follows_processes(std::string_view name) { return name == "PageTables" || name == "KernelStack"; }

std::vector<StateSeries> state_series(const std::vector<MemorySeries>& states) {
  std::vector<StateSeries> all;
  std::map<std::string, std::size_t> caches;
  std::map<std::string, Kinds> kinds;  // key: class of the caches
  for (const MemorySeries& series : states) {
    const bool is_cache = series.source == MemorySource::slabinfo_objects;
    if (series.points.size() < 2 ||
        !(is_cache || (series.source == MemorySource::meminfo && is_kernel_memory_line(series.name))))
      continue;
    const std::string name = is_cache ? class_of(series.name) : series.name;
    const std::vector<double> values = even_values(series.points);
    if (is_cache) kinds[name].try_emplace(series.name, values);
    const auto known = is_cache ? caches.find(name) : caches.end();
    if (known != caches.end() && all[known->second].values.size() == values.size()) {
      for (std::size_t i = 0; i < values.size(); ++i) all[known->second].values[i] += values[i];
      continue;
    }
    if (is_cache) caches[name] = all.size();
    all.push_back(
        {name, is_cache, is_cache && is_shrinkable(name, {}), seconds_between(series.points), values, {}, {}});
  }
  for (const auto& [name, index] : caches) {
    const Kinds::value_type* const kind = risen_kind(kinds[name]);
    if (kind == nullptr || kind->second.size() != all[index].values.size()) continue;
    all[index].values = kind->second;
    if (kind->first != name) all[index].kind = kind->first;
  }
  for (StateSeries& series : all) series.judged = series.values;
  return all;
}

void interpolate_setup_window(double begin_seconds, double end_seconds, std::vector<StateSeries>& states) {
  for (StateSeries& series : states) {
    std::vector<double>& values = series.judged;
    const auto last = static_cast<double>(values.size() - 1);
    const double from = std::floor(begin_seconds / series.seconds_between);
    const double to = std::ceil(end_seconds / series.seconds_between);
    if (!series.cache || from < 0 || to > last || to - from < 2 || to - from > kThresholds.longest_setup * last)
      continue;
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(to);
    if (*std::max_element(begin + 1, end) <= std::max(*begin, *end)) continue;
    for (auto value = begin + 1; value != end; ++value)
      *value = std::lerp(*begin, *end, static_cast<double>(value - begin) / (to - from));
  }
}

std::optional<LateRise> late_rise(const StateSeries& series, double threshold, std::size_t judged) {
  for (const double part : kThresholds.late_parts) {
    const std::vector<double>& values = series.judged;
    const auto count = static_cast<std::size_t>(part * static_cast<double>(values.size()));
    if (count <= Trend::kFewestValues) return std::nullopt;
    const auto before = std::span(values).first(values.size() - count);
    const std::size_t looks = judged * (kThresholds.late_parts.size() + 1);
    const Rise rise = rise_of(std::span(values).last(count), series.seconds_between, threshold, looks);
    if (!rise.sure || values.back() < *std::ranges::max_element(before) + kThresholds.least_rise) continue;
    std::vector<double> usual(before.begin(), before.end());
    const auto middle = usual.begin() + static_cast<std::ptrdiff_t>(usual.size() / 2);
    std::nth_element(usual.begin(), middle, usual.end());
    const double end = static_cast<double>(values.size() - 1) * series.seconds_between;
    const double since = std::clamp(end - (values.back() - *middle) / rise.trend.bytes_per_s, 0.0, end);
    return LateRise{since, rise.trend.bytes_per_s, is_highly_significant(rise.trend, looks)};
  }
  return std::nullopt;
}

std::vector<StateGrowth> state_growth(const std::vector<StateSeries>& states, double threshold) {
  std::vector<StateGrowth> grown;
  for (const StateSeries& series : states) {
    if (series.values.front() == series.values.back() || is_of_a_size(series.name)) continue;
    const Rise rise = rise_of(series.judged, series.seconds_between, threshold, states.size());
    const bool counts = !series.reclaimable && !follows_processes(series.name);
    const double seconds = series.seconds_between * static_cast<double>(series.values.size() - 1);
    const bool is_large = rise.bytes >= std::max(kThresholds.least_rise, threshold * seconds);
    grown.push_back({.name = series.name,
                     .cache = series.cache,
                     .first = series.values.front(),
                     .last = series.values.back(),
                     .trend = rise.trend,
                     .sure = counts && rise.sure,
                     .reclaimable = series.reclaimable,
                     .values = series.values,
                     .step_seconds = series.seconds_between,
                     .late = counts && !rise.sure ? late_rise(series, threshold, states.size()) : std::nullopt,
                     .kind = series.kind,
                     .above = counts && rise.above,
                     .slow = counts && rise.slow,
                     .merged_with = {},
                     .steps = counts && is_large && !rise.sure ? equal_steps(series.judged) : 0});
  }
  std::ranges::stable_sort(grown, std::greater(), [](const StateGrowth& one) { return one.last - one.first; });
  return grown;
}

void mark_recorders(double begin_seconds, double end_seconds, std::vector<StateGrowth>& states) {
  for (StateGrowth& state : states) {
    if (!state.cache || state.sure || state.last <= state.first) continue;
    // The recording's tracing instance allocates one object of trace_event_file for each event type.
    state.is_recorders =
        state.name == "trace_event_file" ||
        (end_seconds > 0 && is_step(state, begin_seconds / state.step_seconds, end_seconds / state.step_seconds));
  }
}

void mark_slab_accounting(const std::vector<MemorySeries>& states, std::vector<StateGrowth>& grown) {
  std::map<std::string, double> rises;
  for (const MemorySeries& series : states)
    if (series.source == MemorySource::slab_extensions && !series.points.empty())
      rises[class_of(series.name)] += series.points.back().value - series.points.front().value;
  for (StateGrowth& state : grown) {
    const auto rise = rises.find(state.name);
    if (rise == rises.end() || !state.kind.empty() || state.last <= state.first ||
        rise->second < kThresholds.much_explained * (state.last - state.first))
      continue;
    state.is_slab_accounting = true;
    state.sure = state.above = state.slow = false;
    state.late.reset();
    state.steps = 0;
  }
}

void mark_sheaves(const std::vector<MemorySeries>& states, std::vector<StateGrowth>& grown) {
  std::map<std::string, double> most;  // maximum bytes in sheaves, by class and by cache
  for (const MemorySeries& series : states) {
    if (series.source != MemorySource::slab_sheaves || series.points.empty()) continue;
    const double bytes = series.points.back().value;
    most[series.name] += bytes;
    if (const std::string name = class_of(series.name); name != series.name) most[name] += bytes;
  }
  if (most.empty()) return;
  // SUnreclaim is the sum of the caches. Its maximum is the sum of the rises of caches, each limited to its maximum.
  most["SUnreclaim"] = 0;
  for (const StateGrowth& state : grown)
    if (const auto bound = most.find(state.shown_name()); state.cache && bound != most.end() && !state.reclaimable)
      most["SUnreclaim"] += std::clamp(state.last - state.first, 0.0, bound->second);
  for (StateGrowth& state : grown) {
    const auto bound = most.find(state.shown_name());
    if (bound == most.end()) continue;
    if (state.late) {
      const double seconds = static_cast<double>(state.values.size() - 1) * state.step_seconds;
      if (state.late->bytes_per_s * (seconds - state.late->since_seconds) <= bound->second) state.late.reset();
    }
    if (state.late || state.last <= state.first || state.last - state.first > bound->second) continue;
    state.may_be_in_sheaves = true;
    state.sure = state.above = state.slow = false;
    state.steps = 0;
  }
}

void mark_unfollowed(double seconds, std::vector<StateGrowth>& states) {
  for (StateGrowth& state : states) {
    const auto at = static_cast<std::size_t>(std::max(seconds / state.step_seconds, 0.0));
    if (state.reclaimable || state.is_slab_accounting || state.may_be_in_sheaves || follows_processes(state.name) ||
        at + 1 >= state.values.size())
      continue;
    const double before =
        *std::max_element(state.values.begin(), state.values.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    state.rose_unfollowed =
        state.last - before >= std::max(kThresholds.rose_unfollowed_bytes, kThresholds.rose_unfollowed_share * before);
  }
}

}  // namespace kmt
