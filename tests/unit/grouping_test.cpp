// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "analysis/grouping.hpp"
#include "symbols/kallsyms.hpp"
#include "trace/stack_ids.hpp"

namespace kmt {
namespace {

// Of two that trace at a time the second one has the kernel call both by a function, which is in the stacks from then
// on.
TEST(Grouping, WhoElseTracesMakesNoOtherStack) {
  TraceInfo info;
  StackIds stacks(info.stacks);
  const StackId alone = stacks.id_of(std::vector<std::uint64_t>{0x2010, 0x3010});
  const StackId beside = stacks.id_of(std::vector<std::uint64_t>{0x1010, 0x2010, 0x3010});
  const StackId other = stacks.id_of(std::vector<std::uint64_t>{0x3010});
  const StackId inside = stacks.id_of(std::vector<std::uint64_t>{0x2010, 0x1010, 0x3010});
  const Kallsyms symbols("1000 T __traceiter_kmalloc\n2000 T site\n3000 T caller\n4000 T end\n");
  CacheNames caches(info);
  Grouping grouping({GroupKey::stack}, info, info, symbols, caches, {});
  const auto group_of = [&](StackId stack) {
    Event event;
    event.kind = EventKind::kmalloc;
    event.bytes_requested = event.bytes_allocated = 64;
    event.stack = stack;
    grouping.origin_of(event);
    return grouping.groups();
  };
  EXPECT_EQ(group_of(alone), 1u);
  EXPECT_EQ(group_of(beside), 1u);
  EXPECT_EQ(group_of(other), 2u);
  EXPECT_EQ(group_of(inside), 3u);  // only in front it is the tracing's
}

}  // namespace
}  // namespace kmt
