// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/cache_suggestions.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/matching/slab_account.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

KmallocProfile::KmallocProfile(const TraceInfo& info, const SymbolNames& symbols, ObjectLog& log)
    : info_(info), symbols_(symbols), caches_(info), log_(log), stream_(info, symbols, caches_, *this), accounts_(1) {}
KmallocProfile::~KmallocProfile() = default;

void KmallocProfile::add(EventBatch& batch) { stream_.add(batch); }

void KmallocProfile::kind(const ObjectKind& kind) {
  log_.kind(kind);
  accounts_.push_back({kind, 0, 0, 0, {}});
}

void KmallocProfile::began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) {
  if (kinds_.size() <= object) kinds_.resize(object + std::size_t{1});
  kinds_[object] = kind;
  log_.began(object, kind, event, again);
  const std::uint64_t ns = clock_.at(event.time_ns);
  Account& account = accounts_[kind];
  if (account.kind.origin.from_cache) return;
  if (!again) ++account.allocations;
  ++account.live;
  account.integral.change(1, ns);
}

void KmallocProfile::ended(std::uint32_t object, const Event& event, bool freed) {
  log_.ended(object, kinds_[object], event, freed);
  const std::uint64_t ns = clock_.at(event.time_ns);
  Account& account = accounts_[kinds_[object]];
  if (account.kind.origin.from_cache) return;
  --account.live;
  if (!freed) ++account.unseen_frees;
  account.integral.change_back(1, ns);
}

void KmallocProfile::freed_older(const Event& event) { log_.freed_older(event); }

std::vector<ProfiledKind> KmallocProfile::finish() {
  log_.end(stream_.span());
  constexpr std::uint64_t kThousandths = 1000;
  // Minimum number of frees per untraced free. With more untraced frees, the average number of live objects is unknown.
  constexpr std::uint64_t kMostUnseen = 4;
  std::vector<ProfiledKind> kinds;
  for (const Account& account : accounts_) {
    const Origin& origin = account.kind.origin;
    if (account.allocations == 0 || origin.bytes_requested > origin.bytes_allocated ||
        is_large_kmalloc(EventKind::kmalloc, origin.bytes_allocated, info_.machine.page_size))
      continue;
    std::string symbol = name_of_site(origin.call_site, info_, symbols_);
    std::string function(function_of(symbol));
    const bool is_known = kMostUnseen * account.unseen_frees < account.allocations;
    kinds.push_back({std::move(symbol), std::move(function), account.kind.cache, origin.bytes_requested,
                     origin.bytes_allocated, account.allocations,
                     is_known ? account.integral.average(account.live, clock_.now(), kThousandths) : 0});
  }
  return kinds;
}

namespace {

struct Candidate {
  CacheSuggestion suggestion;
  double benefit = 0;
};

// Sums of the objects that move to the new cache of one candidate.
struct Moved {
  std::uint64_t allocations = 0;
  double live = 0;
  std::uint64_t given = 0;
  std::set<std::string> caches;

  void add(const ProfiledKind& kind) {
    allocations += kind.allocations;
    live += static_cast<double>(kind.average_live) / 1000;
    given += kind.allocations * kind.given;
    caches.insert(kind.cache);
  }
};

std::uint64_t rounded_up(std::uint64_t bytes) {
  constexpr std::uint64_t kAlign = 8;  // minimum alignment of kmalloc on all machines, in bytes
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

class Chooser {
 public:
  Chooser(const std::vector<ProfiledKind>& kinds, std::vector<std::uint64_t> classes, const SlabMachine& machine,
          bool by_traffic, bool fills_slabs)
      : classes_(std::move(classes)), machine_(machine), by_traffic_(by_traffic), fills_slabs_(fills_slabs) {
    for (const ProfiledKind& kind : kinds) kinds_.push_back(kind);
    std::ranges::sort(kinds_, {}, [](const ProfiledKind& kind) {
      return std::tie(kind.given, kind.function, kind.requested, kind.cache, kind.symbol);
    });
  }

  // Returns the best candidate. If no candidate saves memory, the result has no function and 0 bytes.
  Candidate best() const {
    Candidate best;
    consider_functions(best);
    consider_classes(best);
    return best;
  }

  // Returns variants of a suggested cache with smaller objects. Their sizes are those that most of its objects request.
  // In a cache with larger objects, the additional room for a few large objects may cost more than it saves.
  std::vector<CacheSuggestion> of_plainer_sizes(const CacheSuggestion& than) const {
    constexpr std::size_t kMost = 2;
    CacheSuggestion other = than;
    other.object_bytes = than.class_bytes;
    std::map<std::uint64_t, std::uint64_t> live;
    for (const ProfiledKind& kind : kinds_)
      if (moves(other, kind)) live[bytes_in(other, kind)] += kind.average_live;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes(live.begin(), live.end());
    std::ranges::stable_sort(sizes, std::greater(), [](const auto& size) { return size.second; });
    sizes.resize(std::min(sizes.size(), kMost));
    std::vector<CacheSuggestion> plainer;
    for (const auto& [bytes, objects] : sizes) {
      if (bytes == than.object_bytes || bytes >= than.class_bytes) continue;
      other.object_bytes = bytes;
      Moved moved;
      for (const ProfiledKind& kind : kinds_)
        if (moves(other, kind)) moved.add(kind);
      plainer.push_back(candidate_of(moved, than.function, than.above_bytes, bytes, than.class_bytes).suggestion);
    }
    return plainer;
  }

  // Returns the bytes that a new class, or a new cache of a function, gives to an object.
  std::uint64_t bytes_in(const CacheSuggestion& suggestion, const ProfiledKind& kind) const {
    return suggestion.function.empty() ? rounded_up(kind.requested) : cache_object_bytes(kind.requested, machine_);
  }

  // Returns the average number of live objects, in thousandths, whose requests need the full object size of the new
  // cache.
  std::uint64_t live_of_its_size(const CacheSuggestion& suggestion) const {
    std::uint64_t live = 0;
    for (const ProfiledKind& kind : kinds_)
      if (moves(suggestion, kind) && bytes_in(suggestion, kind) == suggestion.object_bytes) live += kind.average_live;
    return live;
  }

  // Accepts a suggestion: its objects are no longer available to other candidates.
  void take(const CacheSuggestion& taken) {
    if (taken.function.empty()) {
      classes_.push_back(taken.object_bytes);
      std::ranges::sort(classes_);
    }
    std::erase_if(kinds_, [&taken](const ProfiledKind& kind) { return moves(taken, kind); });
  }

  // Returns the functions that would have the most objects in a new class.
  std::vector<std::string> users_of(const CacheSuggestion& suggestion) const {
    std::map<std::string, double> users;
    for (const ProfiledKind& kind : kinds_)
      if (moves(suggestion, kind))
        users[kind.function] +=
            by_traffic_ ? static_cast<double>(kind.allocations) : static_cast<double>(kind.average_live);
    std::vector<std::pair<double, std::string>> sorted;
    sorted.reserve(users.size());
    for (const auto& [name, weight] : users) sorted.emplace_back(-weight, name);
    std::ranges::sort(sorted);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 3); ++i) names.push_back(sorted[i].second);
    return names;
  }

 private:
  static bool moves(const CacheSuggestion& to, const ProfiledKind& kind) {
    return kind.given == to.class_bytes && kind.requested > to.above_bytes && kind.requested <= to.object_bytes &&
           (to.function.empty() || kind.function == to.function);
  }

  std::uint64_t class_below(std::uint64_t bytes) const {
    const auto at = std::ranges::lower_bound(classes_, bytes);
    return at == classes_.begin() ? 0 : *std::prev(at);
  }

  Candidate candidate_of(const Moved& moved, const std::string& function, std::uint64_t above, std::uint64_t bytes,
                         std::uint64_t given) const {
    Candidate candidate;
    const SlabGeometry geometry = slub_geometry(bytes, machine_);
    if (by_traffic_) {
      candidate.benefit = static_cast<double>(moved.allocations * (given - bytes));
    } else {
      // A class needs one cache for each kind of GFP flags that its objects have.
      const double new_caches = function.empty() ? static_cast<double>(moved.caches.size()) : 1;
      const double partly_filled =
          fills_slabs_ ? 0 : new_caches * machine_.cpus * static_cast<double>(geometry.slab_bytes) / 2;
      const double now = slub_geometry(given, machine_).bytes_an_object();
      candidate.benefit = moved.live * (now - geometry.bytes_an_object()) - partly_filled;
    }
    CacheSuggestion& suggestion = candidate.suggestion;
    suggestion.function = function;
    suggestion.above_bytes = above;
    suggestion.object_bytes = bytes;
    suggestion.class_bytes = given;
    suggestion.from.assign(moved.caches.begin(), moved.caches.end());
    suggestion.allocations = moved.allocations;
    suggestion.bytes_given = moved.given;
    suggestion.bytes_given_then = moved.allocations * bytes;
    suggestion.average_live = static_cast<std::uint64_t>(moved.live);
    suggestion.estimated_saving = candidate.benefit;
    return candidate;
  }

  void consider(Candidate& best, const Moved& moved, const std::string& function, std::uint64_t above,
                std::uint64_t bytes, std::uint64_t given) const {
    if (bytes >= given || moved.allocations == 0) return;
    Candidate candidate = candidate_of(moved, function, above, bytes, given);
    if (candidate.benefit > best.benefit) best = std::move(candidate);
  }

  // For each function and class, considers a new cache for all objects of this function in this class.
  void consider_functions(Candidate& best) const {
    for (std::size_t begin = 0; begin < kinds_.size();) {
      Moved moved;
      std::uint64_t largest = 0;
      std::size_t end = begin;
      for (; end < kinds_.size() && kinds_[end].given == kinds_[begin].given &&
             kinds_[end].function == kinds_[begin].function;
           ++end) {
        moved.add(kinds_[end]);
        largest = std::max(largest, kinds_[end].requested);
      }
      const ProfiledKind& kind = kinds_[begin];
      if (!kind.function.empty())
        consider(best, moved, kind.function, class_below(kind.given), cache_object_bytes(largest, machine_),
                 kind.given);
      begin = end;
    }
  }

  // Considers, for each requested size, a new class of that size. The class would serve all requests between the next
  // smaller class and the new one.
  void consider_classes(Candidate& best) const {
    for (std::size_t begin = 0; begin < kinds_.size();) {
      std::map<std::uint64_t, std::vector<const ProfiledKind*>> by_size;
      std::size_t end = begin;
      for (; end < kinds_.size() && kinds_[end].given == kinds_[begin].given; ++end)
        by_size[rounded_up(kinds_[end].requested)].push_back(&kinds_[end]);
      Moved moved;
      for (const auto& [bytes, kinds] : by_size) {
        for (const ProfiledKind* const kind : kinds) moved.add(*kind);
        consider(best, moved, "", class_below(kinds_[begin].given), bytes, kinds_[begin].given);
      }
      begin = end;
    }
  }

  std::vector<ProfiledKind> kinds_;
  std::vector<std::uint64_t> classes_;
  const SlabMachine& machine_;
  bool by_traffic_;
  bool fills_slabs_;
};

// Returns the best candidates. If they are ranked by bytes held, each candidate is followed by variants that only
// differ in size.
std::vector<CacheSuggestion> taken_by(Chooser chooser, const SuggestionRequest& request) {
  std::vector<CacheSuggestion> taken;
  for (std::size_t i = 0; i < request.most; ++i) {
    const Candidate candidate = chooser.best();
    if (candidate.benefit <= 0) break;
    if (request.by_traffic && candidate.benefit < static_cast<double>(request.least_bytes)) break;
    std::vector<CacheSuggestion> sizes = {candidate.suggestion};
    if (!request.by_traffic)
      std::ranges::move(chooser.of_plainer_sizes(candidate.suggestion), std::back_inserter(sizes));
    for (CacheSuggestion& suggestion : sizes) {
      if (suggestion.function.empty()) suggestion.sites = chooser.users_of(suggestion);
      suggestion.of_its_size = chooser.live_of_its_size(suggestion) / 1000;
      taken.push_back(std::move(suggestion));
    }
    chooser.take(candidate.suggestion);
  }
  return taken;
}

bool is_same(const CacheSuggestion& a, const CacheSuggestion& b) {
  return std::tie(a.function, a.above_bytes, a.object_bytes, a.class_bytes) ==
         std::tie(b.function, b.above_bytes, b.object_bytes, b.class_bytes);
}

bool moves_the_same(const CacheSuggestion& a, const CacheSuggestion& b) {
  return a.class_bytes == b.class_bytes && a.above_bytes < b.object_bytes && b.above_bytes < a.object_bytes &&
         (a.function.empty() || b.function.empty() || a.function == b.function);
}

bool saves(const CacheSuggestion& suggestion, std::uint64_t least) {
  return suggestion.average_held >= suggestion.average_held_then + least;
}

// True if `a` saves at least `by` bytes more than `b`. Savings of some candidates are negative. Therefore adds unsigned
// numbers instead of subtracting them.
bool saves_more(const CacheSuggestion& a, const CacheSuggestion& b, std::uint64_t by = 0) {
  return a.average_held + b.average_held_then > b.average_held + a.average_held_then + by;
}

// Returns the first candidate, which saves most, or a variant of it that differs only in size. A variant is preferred
// if more objects request exactly its size. Its saving must be equal within the uncertainty, and at least half as large
// as that of the first candidate.
const CacheSuggestion& plainest_like_first(const std::vector<CacheSuggestion>& replayed, std::uint64_t least) {
  const CacheSuggestion& first = replayed.front();
  const CacheSuggestion* plainest = &first;
  for (const CacheSuggestion& other : replayed) {
    const bool same_but_size = std::tie(other.function, other.above_bytes, other.class_bytes) ==
                               std::tie(first.function, first.above_bytes, first.class_bytes);
    const std::uint64_t uncertain = std::min(std::max(first.uncertain_bytes, other.uncertain_bytes),
                                             (first.average_held - first.average_held_then) / 2);
    if (same_but_size && saves(other, least) && !saves_more(first, other, uncertain) &&
        other.of_its_size > plainest->of_its_size)
      plainest = &other;
  }
  return *plainest;
}

}  // namespace

std::vector<CacheSuggestion> suggestion_candidates(const std::vector<ProfiledKind>& kinds,
                                                   const std::vector<std::uint64_t>& classes,
                                                   const SlabMachine& machine, const SuggestionRequest& request) {
  std::vector<CacheSuggestion> candidates =
      taken_by(Chooser(kinds, classes, machine, request.by_traffic, false), request);
  if (request.by_traffic) return candidates;
  for (CacheSuggestion& other : taken_by(Chooser(kinds, classes, machine, false, true), request))
    if (std::ranges::none_of(candidates, [&other](const CacheSuggestion& known) { return is_same(known, other); }))
      candidates.push_back(std::move(other));
  return candidates;
}

std::vector<CacheSuggestion> best_suggestions(std::vector<CacheSuggestion> replayed, const SuggestionRequest& request) {
  if (request.by_traffic) return replayed;
  const auto first = [](const CacheSuggestion& a, const CacheSuggestion& b) { return saves_more(a, b); };
  std::ranges::stable_sort(replayed, first);
  std::vector<CacheSuggestion> best;
  while (best.size() < request.most && !replayed.empty() && saves(replayed.front(), request.least_bytes)) {
    best.push_back(plainest_like_first(replayed, request.least_bytes));
    std::erase_if(replayed, [&](const CacheSuggestion& other) {
      return is_same(best.back(), other) || moves_the_same(best.back(), other);
    });
  }
  std::ranges::stable_sort(best, first);
  return best;
}

}  // namespace kmt
