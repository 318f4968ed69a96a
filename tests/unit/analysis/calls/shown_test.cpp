// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which calls are shown: the first ones and the slowest ones. For random trees of calls, the result must be the
// same as with a sort of all calls.
#include "analysis/calls/shown.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace kmt {
namespace {

struct Call {
  std::size_t parent = ShownCalls::kNone;  // index in the order of the starts
  std::uint64_t duration = 0;
  std::size_t slot = ShownCalls::kNone;
};

// All calls of one task, in the order of their starts. TracedCall::began_ns is the index of the call in this order.
class Calls {
 public:
  Calls(unsigned seed, std::size_t limit, std::size_t slowest) : random_(seed), shown_(limit, slowest) {
    for (unsigned step = 0; step < 400; ++step)
      if (open_.empty() || random_() % 2 == 0)
        begin();
      else
        end();
    while (!open_.empty()) end();
    shown_.take(result_);
  }

  const std::vector<Call>& all() const { return all_; }
  const CallGraphResult& result() const { return result_; }

 private:
  void begin() {
    Call call;
    if (!open_.empty()) call.parent = open_.back();
    TracedCall traced;
    traced.began_ns = all_.size();
    if (!shown_.is_full())
      call.slot = shown_.begin(traced, call.parent == ShownCalls::kNone ? call.parent : all_[call.parent].slot);
    open_.push_back(all_.size());
    all_.push_back(call);
  }

  void end() {
    Call& call = all_[open_.back()];
    open_.pop_back();
    // Random, so the duration may be shorter than that of inner calls, as if clocks disagreed.
    call.duration = random_() % 50;
    if (call.slot == ShownCalls::kNone) return;
    shown_.at(call.slot).duration_ns = call.duration;
    shown_.show(call.slot, true);
  }

  std::mt19937 random_;
  ShownCalls shown_;
  std::vector<Call> all_;
  std::vector<std::size_t> open_;
  CallGraphResult result_;
};

std::vector<std::size_t> wanted(const std::vector<Call>& all, std::size_t limit, std::size_t slowest) {
  std::vector<std::size_t> places(all.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  const std::size_t first = limit == 0 ? all.size() : std::min(limit, all.size());
  std::set<std::size_t> chosen(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(first));
  std::ranges::stable_sort(places, std::greater{}, [&](std::size_t i) { return all[i].duration; });
  chosen.insert(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(std::min(slowest, all.size())));
  return {chosen.begin(), chosen.end()};
}

TEST(ShownCalls, FirstAndSlowestOnes) {
  for (unsigned seed = 0; seed < 100; ++seed)
    for (const auto& [limit, slowest] :
         {std::pair<std::size_t, std::size_t>{0, 0}, {7, 0}, {7, 9}, {1, 60}, {500, 3}}) {
      const Calls calls(seed, limit, slowest);
      std::vector<std::size_t> found;
      for (const TracedCall& call : calls.result().calls) found.push_back(call.began_ns);
      ASSERT_EQ(found, wanted(calls.all(), limit, slowest)) << seed << ": " << limit << ", " << slowest;

      ASSERT_EQ(calls.result().steps.size(), 2 * found.size());
      for (const TracedCall& call : calls.result().calls) {
        const std::size_t parent = calls.all()[call.began_ns].parent;
        const bool is_shown = std::ranges::binary_search(found, parent);
        ASSERT_EQ(call.parent.has_value(), is_shown);
        if (is_shown) {
          ASSERT_EQ(found[*call.parent], parent);
        }
      }
    }
}

TEST(ShownCalls, CallsWithHiddenInnerCallsAreMarked) {
  const Calls calls(1, 5, 20);
  std::vector<std::size_t> found;
  for (const TracedCall& call : calls.result().calls) found.push_back(call.began_ns);
  std::set<std::size_t> hiding;
  for (std::size_t i = 0; i < calls.all().size(); ++i)
    if (!std::ranges::binary_search(found, i)) hiding.insert(calls.all()[i].parent);
  for (const TracedCall& call : calls.result().calls)
    EXPECT_EQ(call.inside_hidden, hiding.contains(call.began_ns)) << call.began_ns;
  EXPECT_GT(hiding.size(), 3u);
}

}  // namespace
}  // namespace kmt
