// SPDX-License-Identifier: GPL-2.0-or-later
// Tests stacks of a trace during which modules were loaded and removed. Kernel frames are replaced by addresses that
// are unique over time; user frames stay unchanged.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "analysis/matching/module_times.hpp"

namespace kmt {
namespace {

class Given : public Source {
 public:
  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  bool read(EventBatch& batch) override {
    batch = std::exchange(events_, {});
    return !batch.empty();
  }
  double progress() const override { return 1; }

  TraceInfo info_;
  EventBatch events_;
};

TEST(ModuleTimes, LeaveUserFramesUnchanged) {
  constexpr std::uint64_t kAddress = 0xc0481010;
  Given source;
  TraceInfo& info = source.info_;
  info.code.module_changes =
      parse_module_changes("+ 2000 1900 brd c0481000 8192 -\n00000000c0481000 t brd_alloc\t[brd]\n", {});
  StackIds ids(info.tables.stacks);
  const StackId kernel = ids.id_of(std::array<std::uint64_t, 1>{kAddress});
  const StackId both = ids.id_of_both(kernel, ids.user_id_of(std::array<std::uint64_t, 2>{4, 5}));
  for (const auto& [time_ns, stack] : {std::pair{500, both}, {2500, both}, {2600, both}, {2500, kernel}}) {
    Event& event = source.events_.emplace_back();
    event.time_ns = static_cast<std::uint64_t>(time_ns);
    event.stack = stack;
  }
  ModuleTimes times(source);
  times.set_events({});
  EventBatch batch;
  ASSERT_TRUE(times.read(batch));
  EXPECT_NE(batch[1].stack, both);
  EXPECT_EQ(batch[1].stack, batch[2].stack);
  ASSERT_EQ(info.tables.stacks[batch[1].stack].size(), 1u);
  EXPECT_NE(info.tables.stacks[batch[1].stack][0], kAddress);
  ASSERT_EQ(info.tables.stacks.user(batch[1].stack).size(), 2u);
  EXPECT_EQ(info.tables.stacks.user(batch[1].stack)[1], 5u);
  EXPECT_NE(batch[3].stack, batch[1].stack);
  EXPECT_TRUE(info.tables.stacks.user(batch[3].stack).empty());
  EXPECT_EQ(info.tables.stacks[batch[3].stack][0], info.tables.stacks[batch[1].stack][0]);
}

}  // namespace
}  // namespace kmt
