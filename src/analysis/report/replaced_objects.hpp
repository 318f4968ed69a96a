// SPDX-License-Identifier: GPL-2.0-or-later
// Finds live objects that take the place of older ones. Objects from before the trace were freed as fast as such
// objects were allocated, so their number need not grow.
//
// In Linux 6.1 to 6.12, events of allocations from a cache lack its name. Such objects are judged by their size, which
// samples of slabinfo contain for each cache. The objects of this size that were allocated from unknown caches are
// compared with the older objects of this size that were freed.
//
// Some objects have no cache of their own, and their frees do not show their kind. Examples are kernel stacks and
// tables of open files, which copy_process() allocates for each task. They are judged by the objects that the same call
// allocates from a cache. If older tasks are freed as fast as new ones are born, the number of stacks need not grow
// either. This only holds if there are no more stacks than tasks. Stacks of tasks that have ended are a leak.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/report/history.hpp"

namespace kmt {

class ReplacedObjects {
 public:
  // `from` must outlive this object.
  explicit ReplacedObjects(const HistorySources& from);

  // Returns the CacheId of an origin's objects; 0 if unknown.
  std::uint32_t cache_of(std::uint32_t number) const;
  // True if objects of this origin replace older objects of their kind. Their number may then stay constant.
  bool replace_older(std::uint32_t number);
  // True if objects of this origin are allocated together with objects that replace older ones, and if there are at
  // most as many objects of this origin.
  bool accompany_replaced(std::uint32_t number);

 private:
  // Numbers of allocations of one kind: all, and those that are still live by third of the time.
  struct Births {
    std::uint64_t allocations = 0;
    CountByThird live{};
    Births& operator+=(const Births& other);
  };
  // The calls that led to an allocation, as far as the grouping keys or the call site show these calls.
  struct Calls {
    std::string place;                      // name of the allocator, then innermost function and offset
    std::vector<std::uint32_t> companions;  // indexes into `companions_` for these calls, without duplicates
  };
  // Counts of those objects of one cache that replace older ones and that one call allocates. The call is identified by
  // its function, such as "copy_process", or by its caller, such as "alloc_bprm+0xc8". The function may be missing in
  // other stacks, because functions that end with a call of another function leave no frame.
  struct Companion {
    Births births;
    std::map<std::string, Births> others;  // key: place; the call's allocations that are not from a cache
  };

  void find_caches_of_sites();
  void find_older_by_size();
  void count_births();
  bool find_replaced(std::uint32_t number) const;
  bool replace_older_of_size(std::uint64_t bytes) const;
  void find_companions();
  std::vector<std::string> frames_of(const Origin& origin) const;  // innermost first; at least one
  Calls calls_of(const Origin& origin) const;
  const Calls& calls_of(std::uint32_t number);
  static bool are_no_more(const Births& births, const Births& companion);

  const HistorySources& from_;
  std::unordered_map<std::uint32_t, std::uint32_t> cache_of_site_;   // CacheId by CallSiteId; 0: unknown
  std::unordered_map<std::uint32_t, CountByThird> births_of_cache_;  // key: CacheId
  std::unordered_map<std::uint32_t, CountByThird> births_of_site_;   // key: CallSiteId
  // By object size: live objects of unknown caches, and frees of older objects of caches whose allocations are unknown.
  std::unordered_map<std::uint64_t, CountByThird> births_of_size_;
  std::unordered_map<std::uint64_t, CountByThird> older_of_size_;
  std::vector<CountByThird> births_of_origin_;  // index: origin, of any allocator
  std::vector<std::pair<CallSiteId, CountByThird>> older_by_site_;
  // Key: the cache, or 0 with the call site and the object size.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, bool> replaced_;

  bool has_companions_ = false;  // true: find_companions() was called
  std::vector<Companion> companions_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> companions_of_call_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Calls> calls_;  // key: group and call site
};

}  // namespace kmt
