// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/cache_suggestions.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/slab_account.hpp"
#include "trace/function_name.hpp"

namespace kmt {

KmallocProfile::KmallocProfile(const TraceInfo& info, const SymbolNames& symbols)
    : info_(info), symbols_(symbols), caches_(info), stream_(info, symbols, caches_, *this), accounts_(1) {}
KmallocProfile::~KmallocProfile() = default;

void KmallocProfile::add(EventBatch& batch) { stream_.add(batch); }

void KmallocProfile::kind(const ObjectKind& kind) { accounts_.push_back({kind, 0, 0, 0, {}}); }

void KmallocProfile::began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) {
  if (kinds_.size() <= object) kinds_.resize(object + std::size_t{1});
  kinds_[object] = kind;
  Account& account = accounts_[kind];
  if (!again) ++account.allocations;
  ++account.live;
  account.integral.change(1, clock_.at(event.time_ns));
}

void KmallocProfile::ended(std::uint32_t object, const Event& event, bool freed) {
  Account& account = accounts_[kinds_[object]];
  --account.live;
  if (!freed) ++account.unseen_frees;
  account.integral.change_back(1, clock_.at(event.time_ns));
}

std::vector<ProfiledKind> KmallocProfile::finish() {
  constexpr std::uint64_t kThousandths = 1000;
  constexpr std::uint64_t kMostUnseen = 4;  // one of so many allocations
  std::vector<ProfiledKind> kinds;
  for (const Account& account : accounts_) {
    const Origin& origin = account.kind.origin;
    if (account.allocations == 0 || origin.from_cache || origin.bytes_requested > origin.bytes_allocated ||
        is_large_kmalloc(EventKind::kmalloc, origin.bytes_allocated, info_.page_size))
      continue;
    const std::uint64_t address = info_.call_sites[origin.call_site.value];
    std::string symbol = address == 0 ? std::string() : symbols_.name(address);
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

// Sums of what one candidate would move.
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

  // Empty function and no bytes: nothing is worth it.
  Candidate best() const {
    Candidate best;
    consider_functions(best);
    consider_classes(best);
    return best;
  }

  // What it moves is settled.
  void take(const CacheSuggestion& taken) {
    if (taken.function.empty()) {
      classes_.push_back(taken.object_bytes);
      std::ranges::sort(classes_);
    }
    std::erase_if(kinds_, [&taken](const ProfiledKind& kind) { return moves(taken, kind); });
  }

  // The functions that move most to a class.
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

  void consider(Candidate& best, const Moved& moved, const std::string& function, std::uint64_t above,
                std::uint64_t bytes, std::uint64_t given) const {
    if (bytes >= given || moved.allocations == 0) return;
    const SlabGeometry geometry = slub_geometry(bytes, machine_);
    double benefit = 0;
    if (by_traffic_) {
      benefit = static_cast<double>(moved.allocations * (given - bytes));
    } else {
      // A class has a cache for each kind of gfp flags that uses it.
      const double new_caches = function.empty() ? static_cast<double>(moved.caches.size()) : 1;
      const double partly_filled =
          fills_slabs_ ? 0 : new_caches * machine_.cpus * static_cast<double>(geometry.slab_bytes) / 2;
      const double now = slub_geometry(given, machine_).bytes_an_object();
      benefit = moved.live * (now - geometry.bytes_an_object()) - partly_filled;
    }
    if (benefit <= best.benefit) return;
    best.benefit = benefit;
    CacheSuggestion& chosen = best.suggestion;
    chosen = {};
    chosen.function = function;
    chosen.above_bytes = above;
    chosen.object_bytes = bytes;
    chosen.class_bytes = given;
    chosen.from.assign(moved.caches.begin(), moved.caches.end());
    chosen.allocations = moved.allocations;
    chosen.bytes_given = moved.given;
    chosen.bytes_given_then = moved.allocations * bytes;
    chosen.average_live = static_cast<std::uint64_t>(moved.live);
    chosen.estimated_saving = benefit;
  }

  // A cache for all that a function gets of a class.
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

  // A class for all requests above the class below it, up to each size that was asked for.
  void consider_classes(Candidate& best) const {
    constexpr std::uint64_t kAlign = 8;  // kmalloc's, on all machines whose classes may be this close
    for (std::size_t begin = 0; begin < kinds_.size();) {
      std::map<std::uint64_t, std::vector<const ProfiledKind*>> by_size;
      std::size_t end = begin;
      for (; end < kinds_.size() && kinds_[end].given == kinds_[begin].given; ++end)
        by_size[(kinds_[end].requested + kAlign - 1) / kAlign * kAlign].push_back(&kinds_[end]);
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

std::vector<CacheSuggestion> taken_by(Chooser chooser, std::size_t most) {
  std::vector<CacheSuggestion> taken;
  while (taken.size() < most) {
    Candidate candidate = chooser.best();
    if (candidate.benefit <= 0) break;
    if (candidate.suggestion.function.empty()) candidate.suggestion.sites = chooser.users_of(candidate.suggestion);
    chooser.take(candidate.suggestion);
    taken.push_back(std::move(candidate.suggestion));
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

bool saves(const CacheSuggestion& suggestion) { return suggestion.average_held_then < suggestion.average_held; }

}  // namespace

std::vector<CacheSuggestion> suggestion_candidates(const std::vector<ProfiledKind>& kinds,
                                                   const std::vector<std::uint64_t>& classes,
                                                   const SlabMachine& machine, const SuggestionRequest& request) {
  std::vector<CacheSuggestion> candidates =
      taken_by(Chooser(kinds, classes, machine, request.by_traffic, false), request.most);
  if (request.by_traffic) return candidates;
  for (CacheSuggestion& other : taken_by(Chooser(kinds, classes, machine, false, true), request.most))
    if (std::ranges::none_of(candidates, [&other](const CacheSuggestion& known) { return is_same(known, other); }))
      candidates.push_back(std::move(other));
  return candidates;
}

std::vector<CacheSuggestion> best_suggestions(std::vector<CacheSuggestion> replayed, const SuggestionRequest& request) {
  if (request.by_traffic) return replayed;
  std::ranges::stable_sort(replayed, [](const CacheSuggestion& a, const CacheSuggestion& b) {
    return a.average_held + b.average_held_then > b.average_held + a.average_held_then;
  });
  std::vector<CacheSuggestion> best;
  for (CacheSuggestion& suggestion : replayed) {
    if (best.size() == request.most || !saves(suggestion)) break;
    if (std::ranges::none_of(best, [&](const CacheSuggestion& other) { return moves_the_same(other, suggestion); }))
      best.push_back(std::move(suggestion));
  }
  return best;
}

}  // namespace kmt
