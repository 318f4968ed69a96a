// SPDX-License-Identifier: GPL-2.0-or-later
// Calls that ran when events were missed, of which a recorder knows about when alone.
#include <gtest/gtest.h>

#include "analysis/call_graph.hpp"
#include "trace/call_frame.hpp"

namespace kmt {
namespace {

class OneName : public SymbolNames {
 public:
  std::string name(std::uint64_t) const override { return "vfs_read"; }
};

TEST(MissedEvents, MarkTheCallsThatRanThen) {
  TraceInfo info;
  info.notes["missed"] = "1500 1600 2 vfs_read\n3500 3700 1\n";
  const OneName names;
  CallGraph graph(info, names, {});
  const auto pass = [&graph](EventKind kind, std::uint64_t time_ns) {
    Event event{};
    event.kind = kind;
    event.tid = 7;
    event.address = 0x1000;
    event.time_ns = time_ns;
    set_call_frame(event, 0x7F00);
    graph.add({.event = &event});
  };
  for (const std::uint64_t began_ns : {1000u, 1550u, 2000u, 3000u}) {
    pass(EventKind::call_entry, began_ns);
    pass(EventKind::call_exit, began_ns + 520);
  }
  graph.end({});
  const CallGraphResult result = graph.take();
  ASSERT_EQ(result.calls.size(), 4u);
  EXPECT_TRUE(result.calls[0].lost_events);
  EXPECT_TRUE(result.calls[1].lost_events);
  EXPECT_FALSE(result.calls[2].lost_events) << "between the two";
  EXPECT_TRUE(result.calls[3].lost_events);
  EXPECT_EQ(result.functions.front().lost_events, 3u);
  ASSERT_EQ(result.missed.size(), 2u);
  EXPECT_EQ(result.missed[0].function, "vfs_read");
}

}  // namespace
}  // namespace kmt
