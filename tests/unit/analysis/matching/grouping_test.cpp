// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "symbols/kallsyms.hpp"
#include "trace/code/tracing_functions.hpp"
#include "trace/stack_ids.hpp"

namespace kmt {
namespace {

// If two tracers are active, the kernel calls both through an additional function. While both are active, stacks
// contain this function.
TEST(Grouping, OtherTracersDoNotChangeStacks) {
  TraceInfo info;
  StackIds stacks(info.tables.stacks);
  const StackId alone = stacks.id_of(std::vector<std::uint64_t>{0x2010, 0x3010});
  const StackId beside = stacks.id_of(std::vector<std::uint64_t>{0x1010, 0x2010, 0x3010});
  const StackId written = stacks.id_of(std::vector<std::uint64_t>{0x4010, 0x1010, 0x2010, 0x3010});
  const StackId other = stacks.id_of(std::vector<std::uint64_t>{0x3010});
  const StackId inside = stacks.id_of(std::vector<std::uint64_t>{0x2010, 0x1010, 0x3010});
  const Kallsyms symbols(
      "1000 T __traceiter_kmalloc\n2000 T site\n3000 T caller\n4000 T trace_event_raw_event_kmalloc\n"
      "5000 T end\n");
  CacheNames caches(info);
  Grouping grouping({GroupKey::stack}, info, info.tasks, symbols, caches, {});
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
  EXPECT_EQ(group_of(written), 1u);
  EXPECT_EQ(group_of(other), 2u);
  EXPECT_EQ(group_of(inside), 3u);  // frames of tracing are only removed at the inner end of a stack
}

// The call site in the event is more reliable than function names, because an allocating function may have the name of
// a tracing function.
TEST(Grouping, StacksStartAtTheCallSite) {
  TraceInfo info;
  StackIds stacks(info.tables.stacks);
  info.tables.call_sites = {0, 0x1010, 0x2010};
  const Kallsyms symbols("1000 T perf_trace_init\n2000 T perf_trace_add\n3000 T caller\n4000 T end\n");
  CacheNames caches(info);
  Grouping grouping({GroupKey::stack}, info, info.tasks, symbols, caches, {});
  const auto group_of = [&](CallSiteId site, std::vector<std::uint64_t> frames) {
    Event event;
    event.kind = EventKind::kmalloc;
    event.bytes_requested = event.bytes_allocated = 64;
    event.call_site = site;
    event.stack = stacks.id_of(frames);
    return grouping.origin_of(event);
  };
  const std::uint32_t one = group_of(CallSiteId{1}, {0x1010, 0x3010});
  EXPECT_NE(group_of(CallSiteId{2}, {0x2010, 0x3010}), one);
  EXPECT_EQ(group_of(CallSiteId{1}, {0x20, 0x1010, 0x3010}), one);
}

// All call sites in one function form one group. Page events have no call site, so they are grouped by their caller.
TEST(Grouping, ByFunctionMergesCallSites) {
  TraceInfo info;
  StackIds stacks(info.tables.stacks);
  info.tables.call_sites = {0, 0x1010, 0x1020, 0x2010};
  const Kallsyms symbols("1000 T one.isra.0\n2000 T two\n3000 T alloc_pages\n4000 T end\n");
  CacheNames caches(info);
  Grouping grouping({GroupKey::function}, info, info.tasks, symbols, caches,
                    [](std::span<const std::uint64_t>) { return std::size_t{1}; });
  for (const std::uint32_t site : {1u, 2u, 3u}) {
    Event event;
    event.kind = EventKind::kmalloc;
    event.bytes_requested = event.bytes_allocated = 64;
    event.call_site = CallSiteId{site};
    grouping.origin_of(event);
  }
  for (const std::vector<std::uint64_t>& frames : {std::vector<std::uint64_t>{0x3010, 0x2020}, {}}) {
    Event pages;
    pages.kind = EventKind::page_alloc;
    pages.stack = stacks.id_of(frames);
    grouping.origin_of(pages);
  }
  std::vector<std::string> names;
  for (std::uint32_t group = 0; group < grouping.groups(); ++group)
    names.push_back(plain_text(grouping.values_of(group, symbols).front()));
  EXPECT_EQ(names, (std::vector<std::string>{"one", "two", "two", "unknown"}));
}

// Groups name the module of the caller: a module that allocates through a kernel helper, not the kernel itself.
TEST(Grouping, ByModuleUsesTheCaller) {
  TraceInfo info;
  StackIds stacks(info.tables.stacks);
  info.tables.call_sites = {0, 0x1010, 0x2010};
  const Kallsyms symbols("1000 T kmemdup\n2000 T ext4_alloc_inode\t[ext4]\n3000 T drv_probe\t[drv]\n4000 T end\n", {},
                         "drv drivers/net\n");
  CacheNames caches(info);
  Grouping grouping({GroupKey::module, GroupKey::subsystem, GroupKey::directory}, info, info.tasks, symbols, caches,
                    [](std::span<const std::uint64_t>) { return std::size_t{1}; });
  const auto owners_of = [&](std::uint32_t site, std::vector<std::uint64_t> frames) {
    Event event;
    event.kind = EventKind::kmalloc;
    event.bytes_requested = event.bytes_allocated = 64;
    event.call_site = CallSiteId{site};
    event.stack = stacks.id_of(frames);
    grouping.origin_of(event);
    std::string text;
    for (const KeyValue& value : grouping.values_of(static_cast<std::uint32_t>(grouping.groups() - 1), symbols))
      text += plain_text(value) + "; ";
    return text;
  };
  EXPECT_EQ(owners_of(2, {}), "ext4; file systems (guess); fs/ext4 (guess); ");
  EXPECT_EQ(owners_of(1, {0x1010, 0x3010}), "drv; network drivers; drivers/net; ");
  EXPECT_EQ(owners_of(1, {}), "[kernel]; memory management (guess); mm (guess); ");
  EXPECT_EQ(owners_of(0, {}), "unknown; unknown; unknown; ");
  EXPECT_EQ(grouping.groups(), 4u);
}

// Code of an unknown subsystem is grouped by its function, so that growth of this group names a cause.
TEST(Grouping, UnknownOwnersAreNamedByTheirFunction) {
  TraceInfo info;
  info.tables.call_sites = {0, 0x1010, 0x1020, 0x2010, 0x3010};
  const Kallsyms symbols(
      "1000 T a_function_of_nobody.isra.0\n2000 T another_one\n3000 T ext4_find_extent\n4000 T end\n");
  CacheNames caches(info);
  Grouping grouping({GroupKey::subsystem}, info, info.tasks, symbols, caches, {}, {.names_unknown_owners = true});
  for (const std::uint32_t site : {1u, 2u, 3u, 4u, 0u}) {
    Event event;
    event.kind = EventKind::kmalloc;
    event.bytes_requested = event.bytes_allocated = 64;
    event.call_site = CallSiteId{site};
    grouping.origin_of(event);
  }
  std::vector<std::string> names;
  for (std::uint32_t group = 0; group < grouping.groups(); ++group)
    names.push_back(plain_text(grouping.values_of(group, symbols).front()));
  EXPECT_EQ(names, (std::vector<std::string>{"unknown, a_function_of_nobody", "unknown, another_one",
                                             "file systems (guess)", "unknown"}));
}

// The memory may be on another node than the requested one.
TEST(Grouping, MemoryNodesDifferFromRequestedNodes) {
  TraceInfo info;
  info.machine.page_size = 4096;
  info.recording.notes["memory_nodes"] = "0 0 100\n1 100 100\n";
  info.recording.notes["direct_map"] = "100000 1000 100000\n";
  const Kallsyms symbols("");
  CacheNames caches(info);
  Grouping grouping({GroupKey::node, GroupKey::memory_node}, info, info.tasks, symbols, caches, {});
  std::string text;
  const auto add = [&](EventKind kind, std::uint64_t address, std::int16_t node) {
    Event event{};
    event.kind = kind;
    event.address = address;
    event.node = node;
    grouping.origin_of(event);
  };
  add(EventKind::kmalloc, 0x100000, 1);
  add(EventKind::kmalloc, 0x100000 + 0x64000, kNoNode);
  add(EventKind::page_alloc, 150, kNoNode);
  add(EventKind::percpu_alloc, 0x100000, kNoNode);
  for (std::uint32_t group = 0; group < grouping.groups(); ++group)
    for (const KeyValue& value : grouping.values_of(group, symbols)) text += plain_text(value) + "; ";
  EXPECT_EQ(text, "1; 0; unknown; 1; unknown; 1; unknown; unknown; ");
}

TEST(TracingFrames, PrecedeAFunctionThatAlwaysTraces) {
  const Kallsyms symbols(
      "1000 T __traceiter_kmalloc\n2000 T site\n3000 T bpf_map_alloc\n4000 T bpf_trace_run6\n5000 T end\n");
  const auto traced = [&symbols](std::vector<std::uint64_t> frames) {
    return frames.size() - without_tracing(frames, 0, symbols).size();
  };
  EXPECT_EQ(traced({0x10, 0x4010, 0x1010, 0x2010}), 3u) << "a program without a name";
  EXPECT_EQ(traced({0x3010, 0x4010, 0x3010, 0x2010}), 2u)
      << "a BPF program with such a name, and an allocating function";
  EXPECT_EQ(traced({0x3010, 0x2010}), 0u);
  EXPECT_EQ(traced({0x10, 0x18}), 0u) << "without any names";
  EXPECT_EQ(traced({0x2010, 0x4010}), 0u);
  EXPECT_EQ(traced({}), 0u);
}

TEST(TracingFunctions, BpfProgramsAreRecognisedByTheirTag) {
  EXPECT_TRUE(is_tracing_function("bpf_prog_6deef7357e7b4530"));
  EXPECT_TRUE(is_tracing_function("bpf_prog_6deef7357e7b4530_on_kmalloc"));
  EXPECT_FALSE(is_tracing_function("bpf_prog_alloc_no_stats"));
  EXPECT_FALSE(is_tracing_function("bpf_prog_array_alloc_with_more"));
}

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t) const override { return {}; }
};

Event kmalloc_at(std::uint64_t time_ns, std::int32_t tid) {
  Event event{};
  event.kind = EventKind::kmalloc;
  event.bytes_requested = event.bytes_allocated = 64;
  event.time_ns = time_ns;
  event.tid = tid;
  return event;
}

std::vector<std::string> names_of(const Grouping& grouping, const SymbolNames& symbols) {
  std::vector<std::string> names;
  for (std::uint32_t group = 0; group < grouping.groups(); ++group)
    names.push_back(plain_text(grouping.values_of(group, symbols).front()));
  return names;
}

struct Renamed : testing::Test {
  Renamed() {
    info.tasks.names.called_since(10, 0, "sh");
    info.tasks.names.called_since(10, 100, "make");
    info.tasks.names.called_since(10, 200, "sh");
    info.tasks.names.called_since(10, 300, "cc1");
  }
  std::vector<std::string> names_by(GroupKey key, const std::vector<Event>& events, GroupingOptions options = {}) {
    CacheNames caches(info);
    Grouping grouping({key}, info, info.tasks, symbols, caches, {}, options);
    for (const Event& event : events) grouping.origin_of(event);
    return names_of(grouping, symbols);
  }
  TraceInfo info;
  NoNames symbols;
};

using Names = std::vector<std::string>;

TEST_F(Renamed, ARenamedProcessIsOneProcess) {
  const std::vector<Event> events = {kmalloc_at(50, 10), kmalloc_at(150, 10), kmalloc_at(250, 10), kmalloc_at(350, 10)};
  EXPECT_EQ(names_by(GroupKey::process, events), Names{"cc1-10 (was make, sh)"});
  EXPECT_EQ(names_by(GroupKey::comm, events), (Names{"sh", "make", "cc1"}));
  EXPECT_EQ(names_by(GroupKey::process, {kmalloc_at(50, 10), kmalloc_at(250, 10)}), Names{"sh-10"});
}

// The task that started a process has ended, and a later task has its ID.
TEST_F(Renamed, ATreeKeepsItsNameIfTheIdIsReused) {
  info.tasks.lives.born({20, 40, 10, true});
  info.tasks.lives.born({10, 300, 0, true});
  info.tasks.lives.known(10, {10, 1, 0, ""}, TaskLives::Noted::at_begin);
  const std::vector<Event> events = {kmalloc_at(50, 20), kmalloc_at(350, 20), kmalloc_at(360, 10)};
  EXPECT_EQ(names_by(GroupKey::process, events, {true, false}),
            (Names{"sh-10 (born before)", "cc1-10 (born 0.000000)"}));
}

// Returns allocations that differ in few fields, in task and interrupt context. Their tasks change names, and tasks are
// created with IDs that were used before.
std::vector<Event> mixed_allocations(StackIds& stacks) {
  constexpr std::array kKinds = {EventKind::kmalloc, EventKind::cache_alloc, EventKind::page_alloc,
                                 EventKind::percpu_alloc, EventKind::vmap_alloc};
  const std::array stack_of = {StackId{}, stacks.id_of(std::vector<std::uint64_t>{0x1010, 0x2010}),
                               stacks.id_of(std::vector<std::uint64_t>{0x2010})};
  std::mt19937 random(1);
  const auto one_of = [&random](unsigned count) { return static_cast<std::uint32_t>(random() % count); };
  std::vector<Event> events;
  for (std::uint64_t time_ns = 1; time_ns <= 20'000; ++time_ns) {
    Event event = kmalloc_at(time_ns, static_cast<std::int32_t>(10 + 64 * one_of(3)));
    event.kind = kKinds[one_of(kKinds.size())];
    event.address = 0x1000 + 8 * one_of(64);
    event.bytes_requested = 8 + one_of(2);
    event.bytes_allocated = std::uint64_t{16} << one_of(2);
    event.gfp_flags = one_of(2);
    event.node = static_cast<std::int16_t>(static_cast<int>(one_of(3)) - 1);
    event.order = static_cast<std::uint8_t>(event.kind == EventKind::page_alloc ? one_of(2) : 0);
    event.migrate_type = static_cast<std::int8_t>(one_of(2));
    event.call_site = CallSiteId{one_of(3)};
    event.cache = CacheId{one_of(2)};
    event.cpu = static_cast<std::uint16_t>(one_of(2));
    event.context = one_of(8) == 0 ? Context::kSoftIrq : std::uint8_t{0};
    event.page_flags = static_cast<std::uint8_t>(one_of(4) << 1);
    event.stack = stack_of[one_of(stack_of.size())];
    events.push_back(event);
  }
  return events;
}

// With begin_batch(), a Grouping reuses recent origins. The origins must be the same as without begin_batch().
TEST(Grouping, BatchesDoNotChangeTheOrigins) {
  TraceInfo info;
  info.machine.page_size = 4096;
  info.machine.has_memcg = true;
  info.tables.call_sites = {0, 0x1010, 0x2010};
  info.tables.cache_names = {"", "dentry"};
  info.tables.gfp_flags = {{1, "__GFP_ACCOUNT"}};
  for (std::uint64_t time_ns = 0; time_ns < 20'000; time_ns += 70) {
    info.tasks.names.called_since(10, time_ns, time_ns % 20 == 0 ? "sh" : "make");
    info.tasks.names.called_since(74, time_ns + 30, time_ns % 30 == 0 ? "cc1" : "as");
  }
  for (std::uint64_t time_ns = 100; time_ns < 20'000'000; time_ns += 3'000) {
    info.tasks.lives.born({74, time_ns, static_cast<std::int32_t>(time_ns), true, false, false});
    info.tasks.lives.born({138, time_ns + 7, 74, true, true, false});
  }
  StackIds stacks(info.tables.stacks);
  const std::vector<Event> events = mixed_allocations(stacks);
  const Kallsyms symbols("1000 T one\n2000 T two\t[drv]\n3000 T end\n");
  for (const GroupKeyInfo& key : group_keys()) {
    for (const GroupingOptions& options :
         {GroupingOptions{}, GroupingOptions{.page_uses = true, .processes = true},
          GroupingOptions{.tree = true, .processes = true}, GroupingOptions{.with_interrupted = true}}) {
      SCOPED_TRACE(key.name);
      CacheNames caches(info);
      Grouping plain({key.key}, info, info.tasks, symbols, caches, {}, options);
      Grouping batched({key.key}, info, info.tasks, symbols, caches, {}, options);
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (i % 1000 == 0) batched.begin_batch();
        ASSERT_EQ(batched.origin_of(events[i]), plain.origin_of(events[i])) << "event " << i;
      }
      EXPECT_EQ(names_of(batched, symbols), names_of(plain, symbols));
    }
  }
}

TEST(Grouping, WithoutUserStacksNoEventCountsAsKernel) {
  TraceInfo info;
  const NoNames symbols;
  CacheNames caches(info);
  Grouping grouping({GroupKey::dso}, info, info.tasks, symbols, caches, {});
  grouping.origin_of(kmalloc_at(50, 10));
  EXPECT_EQ(names_of(grouping, symbols), Names{"[no user stack]"});
  info.code.user.frames.push_back({});
  EXPECT_EQ(names_of(grouping, symbols), Names{"[kernel]"});
}

}  // namespace
}  // namespace kmt
