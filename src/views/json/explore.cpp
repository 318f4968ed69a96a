// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/explore.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/frame_label.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostGroups = 20'000;
// Maximum number of entries. An entry is the traffic of one group in one bucket of time.
constexpr std::size_t kMostEntries = 300'000;
constexpr std::size_t kMostSizes = 100'000;  // maximum number of elements of the arrays about object sizes
constexpr std::size_t kMostLifetimes = 100'000;
constexpr std::size_t kMostCpus = 256;
constexpr int kOtherCpus = -1;
// Replaces the CPU that freed an object if another CPU allocated the object and both CPUs are merged into kOtherCpus.
// kOtherCpus then means the same CPU.
constexpr int kAnotherOfThem = -2;
constexpr const char* kOthers = "(others)";
constexpr const char* kUnknown = "unknown";
constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // larger numbers are not exact in JSON

// Returns a sum as a signed number. Sums may be negative, because duplicate events are subtracted from them.
Json number(std::uint64_t modulo) { return std::clamp(static_cast<std::int64_t>(modulo), -kLargest, kLargest); }

// A table in which each string occurs once. Other tables refer to a string by its index.
class Strings {
 public:
  std::uint32_t id_of(std::string_view text) {
    const auto [at, is_new] = ids_.try_emplace(printable(text), static_cast<std::uint32_t>(ids_.size()));
    if (is_new) list_.push_back(at->first);
    return at->second;
  }
  const Json& list() const { return list_; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  Json list_ = Json::array();
};

// A table in which each stack occurs once. The functions of a stack are stored outermost first.
class Stacks {
 public:
  explicit Stacks(Strings& strings) : strings_(strings) {}

  std::uint32_t id_of(const std::vector<std::string>& functions) {
    std::vector<std::uint32_t> stack;
    stack.reserve(functions.size());
    for (const std::string& function : functions) stack.push_back(frame(strings_.id_of(function)));
    const auto [at, is_new] = ids_.try_emplace(std::move(stack), static_cast<std::uint32_t>(ids_.size()));
    if (is_new) stacks_.push_back(at->first);
    return at->second;
  }
  const Json& frames() const { return frames_; }
  const Json& stacks() const { return stacks_; }

 private:
  std::uint32_t frame(std::uint32_t name) {
    const auto [at, is_new] = frame_ids_.try_emplace(name, static_cast<std::uint32_t>(frame_ids_.size()));
    if (is_new) frames_.push_back(name);
    return at->second;
  }

  Strings& strings_;
  std::unordered_map<std::uint32_t, std::uint32_t> frame_ids_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> ids_;
  Json frames_ = Json::array();
  Json stacks_ = Json::array();
};

// Builds a JSON object in which each column of a table is an array.
class Columns {
 public:
  explicit Columns(std::initializer_list<const char*> names) {
    for (const char* const name : names) json_[name] = Json::array();
  }
  template <typename... Values>
  void add(Values&&... values) {
    auto column = json_.begin();
    ((*column++).push_back(Json(std::forward<Values>(values))), ...);
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

// Ranks the groups of a page. The rank of a group is its largest share of any total. So a group is shown even if only
// one of its values is large.
class Importance {
 public:
  explicit Importance(std::span<const GroupRow* const> rows) {
    for (const GroupRow* const row : rows) {
      const Values values = values_of(*row);
      for (std::size_t i = 0; i < values.size(); ++i) totals_[i] += values[i];
    }
  }
  double of(const GroupRow& row) const {
    const Values values = values_of(row);
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (totals_[i] > 0) most = std::max(most, values[i] / totals_[i]);
    return most;
  }

 private:
  using Values = std::array<double, 5>;
  static Values values_of(const GroupRow& row) {
    const std::uint64_t wasted =
        row.bytes_allocated > row.bytes_requested ? row.bytes_allocated - row.bytes_requested : 0;
    return {static_cast<double>(row.bytes_allocated), static_cast<double>(row.live_bytes), static_cast<double>(wasted),
            static_cast<double>(row.peak_bytes.value_or(0)), static_cast<double>(row.allocations)};
  }

  Values totals_{};
};

std::vector<const GroupRow*> most_important_first(const ReportResult& result) {
  std::vector<const GroupRow*> rows;
  for (const GroupTable& table : result.groups)
    for (const GroupRow& row : table.rows) rows.push_back(&row);
  const Importance importance(rows);
  std::vector<std::pair<double, const GroupRow*>> ranked;
  ranked.reserve(rows.size());
  for (const GroupRow* const row : rows) ranked.emplace_back(-importance.of(*row), row);
  std::ranges::stable_sort(ranked, {}, &std::pair<double, const GroupRow*>::first);
  std::ranges::transform(ranked, rows.begin(), &std::pair<double, const GroupRow*>::second);
  return rows;
}

double magnitude(std::uint64_t modulo) { return std::abs(static_cast<double>(static_cast<std::int64_t>(modulo))); }

// Marks the entries to keep. Entries with the same key are kept or dropped together. Keys with large weights are kept
// before keys with small weights. At most `most` entries are kept. Entries with the same key must be adjacent.
template <typename Entry, typename Same, typename Weight>
std::vector<bool> heaviest(const std::vector<Entry>& entries, std::size_t most, Same&& same, Weight&& weight) {
  struct Run {
    std::size_t first, last;
    double weight;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (runs.empty() || !same(entries[i - 1], entries[i])) runs.push_back({i, i, 0});
    runs.back().last = i + 1;
    runs.back().weight += weight(entries[i]);
  }
  std::ranges::stable_sort(runs, std::greater{}, &Run::weight);
  std::vector<bool> stays(entries.size(), false);
  std::size_t kept = 0;
  for (const Run& run : runs) {
    if (kept + (run.last - run.first) > most) continue;
    kept += run.last - run.first;
    std::fill(stays.begin() + static_cast<std::ptrdiff_t>(run.first),
              stays.begin() + static_cast<std::ptrdiff_t>(run.last), true);
  }
  return stays;
}

// Returns the CPUs with the most frees. A free counts for the CPU that frees and for the CPU that allocated.
std::set<unsigned> busiest_cpus(const std::vector<CpuTraffic>& entries) {
  std::map<unsigned, double> frees;
  for (const CpuTraffic& entry : entries) {
    frees[entry.from] += magnitude(entry.frees);
    frees[entry.to] += magnitude(entry.frees);
  }
  std::vector<std::pair<double, unsigned>> ranked;
  ranked.reserve(frees.size());
  for (const auto& [cpu, of_cpu] : frees) ranked.emplace_back(-of_cpu, cpu);
  std::ranges::sort(ranked);
  ranked.resize(std::min(ranked.size(), kMostCpus));
  std::set<unsigned> busiest;
  for (const auto& [of_cpu, cpu] : ranked) busiest.insert(cpu);
  return busiest;
}

class Explorer {
 public:
  Explorer(const ReportResult& result, bool has_stacks)
      : result_(result), traffic_(*result.traffic), keys_(explore_keys(has_stacks)), has_stacks_(has_stacks) {}

  std::string write() {
    std::size_t entries = 0;
    std::size_t groups = 0;
    for (const GroupRow* const row : most_important_first(result_)) {
      const std::size_t size = row->traffic ? row->traffic->changes.size() : 0;
      if (groups < kMostGroups && entries + size <= kMostEntries) {
        ++groups;
        entries += size;
        add_group(*row);
      } else {
        leave_out(*row);
      }
    }
    add_others();
    return document().dump();
  }

 private:
  struct Others {
    std::uint64_t groups = 0;
    std::uint64_t bytes_allocated = 0;
    std::uint64_t live_bytes = 0;
    std::map<std::uint32_t, TrafficCounts> traffic;                          // key: index of the bucket
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lives;  // bytes by LifeTraffic::began and ended
  };

  const KeyValue* value_of(GroupKey key, const GroupRow& row) const {
    const auto at = std::ranges::find(keys_, key);
    return at == keys_.end() ? nullptr : &row.keys[static_cast<std::size_t>(at - keys_.begin())];
  }
  template <typename Type>
  const Type* get(GroupKey key, const GroupRow& row) const {
    const KeyValue* const value = value_of(key, row);
    return value == nullptr ? nullptr : std::get_if<Type>(value);
  }

  std::string cache_of(const GroupRow& row) const {
    if (!applies(GroupKey::cache, row.allocator)) return std::string(name_of(row.allocator));
    const KeyValue& cache = *value_of(GroupKey::cache, row);
    return std::holds_alternative<std::monostate>(cache) ? kUnknown : plain_text(cache);
  }

  std::string module_text(const GroupRow& row) const {
    const std::string* const module = get<std::string>(GroupKey::module, row);
    return module != nullptr ? *module : std::string(kUnknown);
  }

  static std::string text_of(const CodeOwner& owner) {
    return owner.name.empty() ? std::string(kUnknown) : plain_text(owner);
  }

  void add_group(const GroupRow& row) {
    static const std::vector<CodeAddress> kNoStack;
    const auto* const stack = get<std::vector<CodeAddress>>(GroupKey::stack, row);
    const std::span<const CodeAddress> frames = relevant_frames(stack == nullptr ? kNoStack : *stack);
    const auto* const call_site = get<CodeAddress>(GroupKey::call_site, row);
    const std::uint64_t* const order = get<std::uint64_t>(GroupKey::order, row);
    std::string site = call_site != nullptr ? call_site->symbol : frames.empty() ? kUnknown : frames.front().symbol;
    const std::string pages = order != nullptr ? fmt::format("pages of order {}", *order) : std::string();
    if (row.allocator == Allocator::pages && frames.empty()) site = pages;
    std::vector<std::string> functions;
    for (const CodeAddress& frame : frames) functions.insert(functions.begin(), frame_label(frame));
    if (frames.empty() || !frames.front().object.empty())  // the stack has no kernel frame
      functions.emplace_back(call_site != nullptr ? function_of(site) : site);
    const auto* const directory = get<CodeOwner>(GroupKey::directory, row);
    const CodeOwner owner = directory != nullptr ? *directory : CodeOwner{};
    groups_.add(static_cast<unsigned>(row.allocator), stacks_.id_of(functions), strings_.id_of(site),
                strings_.id_of(module_text(row)), strings_.id_of(text_of(subsystem_of(owner))),
                strings_.id_of(text_of(owner)), strings_.id_of(cache_of(row)),
                strings_.id_of(plain_text(*value_of(GroupKey::comm, row))),
                order != nullptr ? static_cast<std::int64_t>(*order) : -1);
    if (row.traffic) {
      for (const Traffic& entry : row.traffic->changes) add_change(entry.bucket, entry.counts);
      for (const LifeTraffic& life : row.traffic->lives) add_life(life.began, life.ended, life.bytes);
    }
    ++next_group_;
  }

  void leave_out(const GroupRow& row) {
    Others& others = others_[row.allocator];
    ++others.groups;
    others.bytes_allocated += row.bytes_allocated;
    others.live_bytes += row.live_bytes;
    if (!row.traffic) return;
    for (const Traffic& entry : row.traffic->changes) others.traffic[entry.bucket] += entry.counts;
    for (const LifeTraffic& life : row.traffic->lives) others.lives[{life.began, life.ended}] += life.bytes;
  }

  void add_others() {
    for (const auto& [allocator, others] : others_) {
      const std::uint32_t name = strings_.id_of(kOthers);
      groups_.add(static_cast<unsigned>(allocator), stacks_.id_of({kOthers}), name, name, name, name, name, name, -1);
      for (const auto& [bucket, counts] : others.traffic) add_change(bucket, counts);
      for (const auto& [buckets, bytes] : others.lives) add_life(buckets.first, buckets.second, bytes);
      ++next_group_;
    }
  }

  // Adds the counts of the next group in a bucket. Groups and buckets are added in ascending order. Only the
  // differences to the previous numbers are stored, because these are small.
  void add_change(std::uint32_t bucket, const TrafficCounts& counts) {
    const bool same_group = next_group_ == last_group_;
    changes_.add(next_group_ - last_group_, same_group ? bucket - last_bucket_ : bucket, number(counts.allocations),
                 number(counts.requested), number(counts.allocated), number(counts.frees),
                 number(counts.freed + counts.replaced), number(counts.replacements), number(counts.replaced));
    last_group_ = next_group_;
    last_bucket_ = bucket;
  }

  // Groups are added in ascending order, and stored as differences.
  void add_life(std::uint32_t began, std::uint32_t ended, std::uint64_t bytes) {
    lives_.add(next_group_ - last_life_group_, began, ended, number(bytes));
    last_life_group_ = next_group_;
  }

  Json omitted() const {
    Others sum;
    for (const auto& [allocator, others] : others_) {
      sum.groups += others.groups;
      sum.bytes_allocated += others.bytes_allocated;
      sum.live_bytes += others.live_bytes;
    }
    Json json = Json::object();
    json["groups"] = sum.groups;
    json["bytes_allocated"] = number(sum.bytes_allocated);
    json["live_bytes"] = number(sum.live_bytes);
    return json;
  }

  std::uint32_t site(std::uint32_t index) {
    return strings_.id_of(index == 0 ? kUnknown : std::string_view(traffic_.sites[index]));
  }

  // Adds the most important object sizes. For the other sizes, stores only the sum per bucket.
  void add_sizes(Json& json) {
    const auto wasted = [](const SizeTraffic& entry) {
      return entry.allocated > entry.requested ? entry.allocated - entry.requested : 0;
    };
    double allocations = 0, allocated = 0, waste = 0;
    for (const SizeTraffic& entry : traffic_.sizes) {
      allocations += magnitude(entry.allocations);
      allocated += magnitude(entry.allocations) * static_cast<double>(entry.allocated);
      waste += magnitude(entry.allocations) * static_cast<double>(wasted(entry));
    }
    const auto key = [](const SizeTraffic& entry) { return std::tie(entry.site, entry.requested, entry.allocated); };
    const std::vector<bool> stays = heaviest(
        traffic_.sizes, kMostSizes, [&](const auto& a, const auto& b) { return key(a) == key(b); },
        [&](const SizeTraffic& entry) {
          return magnitude(entry.allocations) *
                 (1 / std::max(allocations, 1.0) + static_cast<double>(entry.allocated) / std::max(allocated, 1.0) +
                  static_cast<double>(wasted(entry)) / std::max(waste, 1.0));
        });
    Columns columns({"site", "requested", "allocated", "bucket", "allocations"});
    std::map<std::uint32_t, TrafficCounts> others;
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const SizeTraffic& entry = traffic_.sizes[i];
      if (stays[i])
        columns.add(site(entry.site), number(entry.requested), number(entry.allocated), entry.bucket,
                    number(entry.allocations));
      else
        others[entry.bucket] += {.allocations = entry.allocations,
                                 .requested = entry.allocations * entry.requested,
                                 .allocated = entry.allocations * entry.allocated};
    }
    Columns omitted({"bucket", "allocations", "requested", "allocated"});
    for (const auto& [bucket, counts] : others)
      omitted.add(bucket, number(counts.allocations), number(counts.requested), number(counts.allocated));
    json["sizes"] = columns.take();
    json["sizes_left_out"] = omitted.take();
  }

  Json lifetimes() {
    double frees = 1, bytes = 1;
    for (const LifetimeTraffic& entry : traffic_.lifetimes) {
      frees += magnitude(entry.frees);
      bytes += magnitude(entry.bytes);
    }
    const auto key = [](const LifetimeTraffic& entry) { return std::tie(entry.site, entry.allocator, entry.octave); };
    const std::vector<bool> stays = heaviest(
        traffic_.lifetimes, kMostLifetimes, [&](const auto& a, const auto& b) { return key(a) == key(b); },
        [&](const LifetimeTraffic& entry) { return magnitude(entry.frees) / frees + magnitude(entry.bytes) / bytes; });
    Columns columns({"allocator", "octave", "bucket", "site", "frees", "bytes"});
    std::map<std::tuple<Allocator, unsigned, std::uint32_t>, TrafficCounts> others;
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const LifetimeTraffic& entry = traffic_.lifetimes[i];
      if (stays[i])
        columns.add(static_cast<unsigned>(entry.allocator), entry.octave, entry.bucket, site(entry.site),
                    number(entry.frees), number(entry.bytes));
      else
        others[{entry.allocator, entry.octave, entry.bucket}] += {.frees = entry.frees, .freed = entry.bytes};
    }
    for (const auto& [of, counts] : others)
      columns.add(static_cast<unsigned>(std::get<0>(of)), std::get<1>(of), std::get<2>(of), strings_.id_of(kOthers),
                  number(counts.frees), number(counts.freed));
    return columns.take();
  }

  Json cpus() const {
    const std::set<unsigned> busiest = busiest_cpus(traffic_.cpus);
    std::map<std::tuple<Allocator, int, int, std::uint32_t>, TrafficCounts> sums;
    for (const CpuTraffic& entry : traffic_.cpus) {
      const int from = busiest.contains(entry.from) ? static_cast<int>(entry.from) : kOtherCpus;
      int to = busiest.contains(entry.to) ? static_cast<int>(entry.to) : kOtherCpus;
      if (from == kOtherCpus && to == kOtherCpus && entry.from != entry.to) to = kAnotherOfThem;
      sums[{entry.allocator, from, to, entry.bucket}] += {.frees = entry.frees, .freed = entry.bytes};
    }
    Columns columns({"allocator", "from", "to", "bucket", "frees", "bytes"});
    for (const auto& [of, counts] : sums)
      columns.add(static_cast<unsigned>(std::get<0>(of)), std::get<1>(of), std::get<2>(of), std::get<3>(of),
                  number(counts.frees), number(counts.freed));
    return columns.take();
  }

  Json document() {
    Json json = Json::object();
    json["start_ns"] = traffic_.axis.start_ns;
    json["bucket_ns"] = traffic_.axis.width_ns;
    json["buckets"] = traffic_.axis.buckets;
    add_sizes(json);
    json["lifetimes"] = lifetimes();
    json["cpus"] = cpus();
    json["lives"] = lives_.take();
    json["lives_coarse"] = traffic_.lives_coarse;
    json["strings"] = strings_.list();
    json["frames"] = stacks_.frames();
    json["stacks"] = stacks_.stacks();
    json["has_stacks"] = has_stacks_;
    json["groups"] = groups_.take();
    json["changes"] = changes_.take();
    json["left_out"] = omitted();
    json["coarse"] = traffic_.coarse;
    json["cpu_nodes"] = traffic_.cpu_nodes.empty() ? Json(nullptr) : Json(traffic_.cpu_nodes);
    return json;
  }

  const ReportResult& result_;
  const TrafficOverTime& traffic_;
  std::vector<GroupKey> keys_;
  bool has_stacks_;
  Strings strings_;
  Stacks stacks_{strings_};
  Columns groups_{"allocator", "stack", "site", "module", "subsystem", "directory", "cache", "task", "order"};
  Columns changes_{"group", "bucket", "allocations",  "requested", "allocated",
                   "frees", "freed",  "replacements", "replaced"};
  Columns lives_{"group", "began", "ended", "bytes"};
  std::map<Allocator, Others> others_;
  std::uint32_t next_group_ = 0;
  std::uint32_t last_group_ = 0;
  std::uint32_t last_bucket_ = 0;
  std::uint32_t last_life_group_ = 0;
};

}  // namespace

std::vector<GroupKey> explore_keys(bool has_stacks) {
  std::vector<GroupKey> keys = {GroupKey::call_site, GroupKey::module, GroupKey::directory,
                                GroupKey::cache,     GroupKey::comm,   GroupKey::order};
  if (has_stacks) keys.push_back(GroupKey::stack);
  return keys;
}

std::string json_explore(const ReportResult& result, bool has_stacks) { return Explorer(result, has_stacks).write(); }

}  // namespace kmt
