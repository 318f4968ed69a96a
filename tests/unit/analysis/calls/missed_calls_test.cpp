// SPDX-License-Identifier: GPL-2.0-or-later
// Tests calls that ran while other calls were missed. The recorder knows an interval in which calls were missed, but
// not the exact times.
#include <gtest/gtest.h>

#include "analysis/calls/graph.hpp"
#include "trace/calls/event.hpp"
#include "trace/calls/recorded_functions.hpp"
#include "trace/calls/refused_functions.hpp"

namespace kmt {
namespace {

class OneName : public SymbolNames {
 public:
  std::string name(std::uint64_t) const override { return "vfs_read"; }
};

// Returns calls of one function that start at `begins` and last for `duration_ns`. `missed` is the recorder's note.
CallGraphResult calls_at(const char* missed, const std::vector<std::uint64_t>& begins, std::uint64_t duration_ns) {
  TraceInfo info;
  info.recording.notes["missed"] = missed;
  const OneName names;
  CallGraph graph(info, names, {});
  const auto pass = [&graph](EventKind kind, std::uint64_t time_ns) {
    CallEvent call{};
    call.kind = kind;
    call.tid = 7;
    call.function = 0x1000;
    call.time_ns = time_ns;
    call.frame = 0x7F00;
    call.flags = CallFlags::kFrame;
    const Event event = as_event(call);
    graph.add({.event = &event});
  };
  for (const std::uint64_t began_ns : begins) {
    pass(EventKind::call_entry, began_ns);
    pass(EventKind::call_exit, began_ns + duration_ns);
  }
  graph.end({});
  return graph.take();
}

TEST(MissedEvents, MarkTheCallsThatRanMeanwhile) {
  const CallGraphResult result = calls_at("1500 1600 2 vfs_read\n3500 3700 1\n", {1000, 1550, 2000, 3000}, 520);
  ASSERT_EQ(result.calls.size(), 4u);
  EXPECT_TRUE(result.calls[0].lost_events);
  EXPECT_TRUE(result.calls[0].only_missed);
  EXPECT_TRUE(result.calls[1].lost_events);
  EXPECT_FALSE(result.calls[2].lost_events) << "the miss is between the two calls";
  EXPECT_TRUE(result.calls[3].lost_events);
  EXPECT_EQ(result.functions.front().lost_events, 3u);
  ASSERT_EQ(result.missed.size(), 2u);
  EXPECT_EQ(result.missed[0].function, "vfs_read");
}

TEST(MissedEvents, MayOverlap) {
  const CallGraphResult result = calls_at("10 100 1 vfs_read\n59 60 1 vfs_write\n", {1, 30, 62, 101}, 1);
  ASSERT_EQ(result.calls.size(), 4u);
  EXPECT_FALSE(result.calls[0].lost_events);
  EXPECT_TRUE(result.calls[1].lost_events) << "the miss is before the first-ending call starts";
  EXPECT_TRUE(result.calls[2].lost_events);
  EXPECT_FALSE(result.calls[3].lost_events);
}

TEST(RefusedFunctions, AreLimitedInNumber) {
  const std::vector<RefusedFunction> two = {{"vfs_read", "no kprobe"}, {"vfs_write", "its trampoline: no: 5"}};
  const std::vector<RefusedFunction> read = parse_refused_functions("\nx\n y\n" + refused_functions_text(two));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(refused_functions_text(read), refused_functions_text(two));
  EXPECT_EQ(parse_refused_functions("f why").size(), 1u);
  std::string many;
  for (std::size_t i = 0; i < 2 * kMostRecordedFunctions; ++i) many += "a \n";
  EXPECT_EQ(parse_refused_functions(many).size(), kMostRecordedFunctions);
}

}  // namespace
}  // namespace kmt
