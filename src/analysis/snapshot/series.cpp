// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/series.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "analysis/matching/slab_account.hpp"
#include "analysis/series/trend.hpp"
#include "analysis/snapshot/amounts.hpp"
#include "results/series/thresholds.hpp"
#include "trace/state/slab_extensions.hpp"

namespace kmt {

namespace {

// Returns the amounts of a part: bytes of kernel memory, or numbers of removed cgroups. Objects include their padding,
// and cgroups exclude user memory.
SnapshotAmounts kernel_amounts(SnapshotPart part, const SnapshotResult& snapshot) {
  SnapshotAmounts amounts;
  if (part == SnapshotPart::cgroups) {
    for (const CgroupMemory& cgroup : snapshot.memory.cgroups)
      if (const auto bytes = kernel_bytes(cgroup)) amounts[cgroup.path] = static_cast<std::int64_t>(*bytes);
    return amounts;
  }
  amounts = amounts_of(part, snapshot);
  if (part != SnapshotPart::slab_allocations) return amounts;
  const auto caches = caches_by_name(snapshot.caches);
  for (auto& [name, count] : amounts) {  // `name` has the form "CACHE: SITE < …"
    const auto cache = caches.find(std::string_view(name).substr(0, name.find(": ")));
    const std::uint64_t size = cache == caches.end() ? 0 : cache->second->object_bytes;
    count = static_cast<std::int64_t>(static_cast<std::uint64_t>(count) * size);
  }
  return amounts;
}

// True if all memory with this name is reclaimable, such as dentries and inodes.
bool is_all_reclaimable(SnapshotPart part, const std::string& name) {
  // The name is that of a cache, or starts with a cache: "CACHE: SITE < …".
  if (part == SnapshotPart::slab_caches || part == SnapshotPart::slab_allocations)
    return is_shrinkable(name.substr(0, name.find(": ")), {});
  return part == SnapshotPart::allocinfo &&
         is_shrinkable({}, name.substr(name.rfind(' ') + 1));  // "FILE:LINE FUNCTION"
}

// Returns the reclaimable bytes of lines that contain both reclaimable and other memory. The accounting data of
// reclaimable slabs are freed with these slabs.
SnapshotAmounts reclaimable_amounts(SnapshotPart part, const SnapshotAmounts& amounts, const SnapshotResult& snapshot) {
  SnapshotAmounts reclaimable;
  const auto is_reclaimable = [](const std::string& cache) { return is_shrinkable(cache, {}); };
  if (part == SnapshotPart::slab_caches)
    for (const auto& [cache, bytes] : slab_extensions(snapshot.memory.slabs, is_reclaimable).by_cache)
      if (const auto amount = amounts.find(std::string(cache)); amount != amounts.end())
        reclaimable[amount->first] = std::min(static_cast<std::int64_t>(bytes), amount->second);
  if (part == SnapshotPart::balance_sheet) {
    const CgroupLimit* const cgroup = limited_cgroup(snapshot.memory);
    const std::uint64_t counted = cgroup != nullptr ? number_or_0(cgroup->memory.values, "slab_reclaimable")
                                                    : number_or_0(snapshot.memory.meminfo, "SReclaimable");
    const auto of_slab =
        static_cast<std::int64_t>(counted + slab_extensions(snapshot.memory.slabs, is_reclaimable).least);
    for (const auto& [name, bytes] : amounts) {
      if (name == "slab" || name == "slab.in-use") reclaimable[name] = of_slab;
      if (name == "others.reclaimable" || name == "slab.reclaimable") reclaimable[name] = bytes;
    }
  }
  if (part == SnapshotPart::cgroups)
    for (const CgroupMemory& cgroup : snapshot.memory.cgroups)
      reclaimable[cgroup.path] = static_cast<std::int64_t>(number_or_0(cgroup.values, "slab_reclaimable"));
  return reclaimable;
}

// True for lines of the balance sheet that count kernel memory. Free and user memory depend on the running programs.
// The recorder's own memory has a separate line.
bool is_kernel_memory_line(const std::string& line) {
  return line != "recorder" && !line.starts_with("free") && !line.starts_with("user") && !line.starts_with("hugetlb");
}

Trend trend_of_row(const SnapshotRow& row, const std::vector<std::uint64_t>& times) {
  const auto begin = std::ranges::find_if(row.values, [](double value) { return value != 0; });
  const auto skipped = static_cast<std::size_t>(begin - row.values.begin());
  const std::span<const double> values = std::span(row.values).subspan(skipped);
  if (values.size() < 2) return {};
  const std::uint64_t first = times[row.first + skipped];
  if (static_cast<double>(times.back() - first) < kThresholds.least_seconds * 1e9) return {};
  return trend_of(values, static_cast<double>(times.back() - first) / 1e9 / static_cast<double>(values.size() - 1));
}

// True if the row rose in the last quarter by less than a tenth of what steady growth would have added.
bool has_stopped(const SnapshotRow& row) {
  constexpr double kPart = kThresholds.stopped_part;
  const auto late = static_cast<std::size_t>(static_cast<double>(row.values.size() - 1) * (1 - kPart));
  return row.values.back() - row.values[late] < kThresholds.stopped_share * kPart * row.change();
}

LeakVerdict verdict_of_all(const SnapshotRow& row, const SnapshotSeries& series) {
  const Trend& trend = row.trend;
  switch (trend.growth) {
    case Growth::too_few_points: return LeakVerdict::too_short;
    case Growth::none: return LeakVerdict::no_growth;
    case Growth::past: return LeakVerdict::past;
    case Growth::steady: break;
  }
  const bool above = rises_above(trend, series.threshold_bytes_per_s);
  if (above && trend.evenness >= series.confidence_needed) return LeakVerdict::certain;
  if (has_stopped(row)) return LeakVerdict::past;
  return above ? LeakVerdict::uneven : LeakVerdict::unsure;
}

// Returns the verdict on a row. Growth is certain only if the row also grows without its reclaimable part.
// If the whole growth may be free objects in sheaves, it is not certain either.
LeakVerdict verdict_of(const SnapshotRow& row, const SnapshotSeries& series) {
  const LeakVerdict verdict = verdict_of_all(row, series);
  if (verdict != LeakVerdict::certain) return verdict;
  if (row.is_in_sheaves()) return LeakVerdict::uncertain;
  SnapshotRow rest = row;
  std::ranges::transform(row.values, row.reclaimable, rest.values.begin(), std::minus());
  rest.trend = trend_of_row(rest, series.elapsed_ns);
  return verdict_of_all(rest, series) == LeakVerdict::certain ? verdict : LeakVerdict::uncertain;
}

bool is_constant(const SnapshotRow& row) {
  return std::ranges::all_of(row.values, [&](double value) { return value == row.values.front(); });
}

}  // namespace

void SnapshotSeriesAnalysis::add(SnapshotPart id, const SnapshotResult& snapshot) {
  Part& part = parts_[static_cast<std::size_t>(id)];
  const std::size_t index = series_.elapsed_ns.size() - 1;
  if (!is_known(id, snapshot)) {  // the value is unknown in this snapshot, so repeat the previous one
    for (auto& [name, row] : part.rows) {
      row.values.push_back(row.values.back());
      row.reclaimable.push_back(row.reclaimable.back());
    }
    return;
  }
  if (!std::exchange(part.known, true)) part.known_since = index;
  for (auto& [name, row] : part.rows) {
    row.values.push_back(0);
    row.reclaimable.push_back(0);
  }
  const SnapshotAmounts amounts = kernel_amounts(id, snapshot);
  for (const auto& [name, amount] : amounts) {
    SnapshotRow& row = part.rows[name];
    if (row.values.empty()) {
      row.part = id;
      row.name = row.label = name;
      row.first = part.known_since;
      // Rows of nodes are not judged. The balance sheet judges the same memory, and shows which of it is reclaimable.
      row.judged = !counts_cgroups(id) && id != SnapshotPart::nodes;
      row.values.resize(index - part.known_since + 1);
      row.reclaimable.resize(row.values.size());
      if (is_all_reclaimable(id, name)) part.shrinkable.push_back(name);
    }
    row.values.back() = static_cast<double>(amount);
  }
  for (const std::string& name : part.shrinkable) {
    SnapshotRow& row = part.rows.at(name);
    row.reclaimable.back() = row.values.back();
  }
  for (const auto& [name, amount] : reclaimable_amounts(id, amounts, snapshot))
    if (const auto row = part.rows.find(name); row != part.rows.end())
      row->second.reclaimable.back() = static_cast<double>(amount);
}

// Sets how much of the growth of slab caches, and of their sum, may be free objects in sheaves.
void SnapshotSeriesAnalysis::limit_sheaves() {
  Part& caches = parts_[static_cast<std::size_t>(SnapshotPart::slab_caches)];
  double all = 0;
  for (const auto& [name, bound] : caches.sheaves) {
    const auto row = caches.rows.find(name);
    if (row == caches.rows.end()) continue;
    const auto bytes = static_cast<double>(bound.slab_bytes);
    row->second.in_sheaves = bytes;
    all += std::clamp(row->second.change(), 0.0, bytes);
  }
  auto& lines = parts_[static_cast<std::size_t>(SnapshotPart::balance_sheet)].rows;
  for (const char* const line : {"slab", "slab.in-use"})
    if (const auto row = lines.find(line); row != lines.end()) row->second.in_sheaves = all;
}

void SnapshotSeriesAnalysis::add(const SnapshotResult& snapshot, std::uint64_t elapsed_ns) {
  if (series_.elapsed_ns.empty()) series_.first_unix_ns = snapshot.memory.unix_ns;
  series_.last_unix_ns = snapshot.memory.unix_ns;
  series_.total = snapshot.total;
  if (const CgroupLimit* const cgroup = limited_cgroup(snapshot.memory)) series_.cgroup = cgroup->memory.path;
  series_.release = snapshot.memory.release;
  series_.machine = snapshot.memory.machine;
  // The time must not go backwards, even if the times in the file are wrong.
  const std::uint64_t before = series_.elapsed_ns.empty() ? 0 : series_.elapsed_ns.back();
  series_.elapsed_ns.push_back(std::max(before, elapsed_ns));
  for (const SnapshotPart part : kSnapshotParts) add(part, snapshot);
  if (auto sheaves = sheaf_bounds(snapshot.memory); !sheaves.empty())
    parts_[static_cast<std::size_t>(SnapshotPart::slab_caches)].sheaves = std::move(sheaves);
  auto& lines = parts_[static_cast<std::size_t>(SnapshotPart::balance_sheet)].rows;
  std::size_t at = 0;
  for (const BalanceLine& line : snapshot.sheet) {
    const auto found = lines.find(line.id);
    if (found == lines.end()) continue;  // if meminfo is incomplete, lines computed from it are unknown
    SnapshotRow& row = found->second;
    row.label = line.label;
    row.depth = line.depth;
    row.counted = line.counted;
    const auto known = std::ranges::find(order_, line.id);
    if (known == order_.end())
      order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), line.id);
    else
      at = static_cast<std::size_t>(known - order_.begin());
    ++at;
  }
}

SnapshotSeries SnapshotSeriesAnalysis::finish(double threshold_bytes_per_s) {
  series_.threshold_bytes_per_s = threshold_bytes_per_s;
  limit_sheaves();
  auto& lines = parts_[static_cast<std::size_t>(SnapshotPart::balance_sheet)].rows;
  for (const std::string& id : order_) {
    SnapshotRow& row = lines.at(id);
    row.judged = row.counted && is_kernel_memory_line(id);
    series_.rows.push_back(std::move(row));
  }
  lines.clear();
  for (Part& part : parts_)
    for (auto& [name, row] : part.rows)
      if (!is_constant(row)) series_.rows.push_back(std::move(row));
  for (SnapshotRow& row : series_.rows) {
    if (!row.judged) continue;
    row.trend = trend_of_row(row, series_.elapsed_ns);
    if (row.trend.growth != Growth::too_few_points && !is_constant(row)) ++series_.judged;
  }
  series_.confidence_needed = needed_evenness(series_.judged);
  for (SnapshotRow& row : series_.rows)
    if (row.judged) row.verdict = verdict_of(row, series_);
  return std::move(series_);
}

}  // namespace kmt
