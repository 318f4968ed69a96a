// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which function of a stack requested the memory.
#include <gtest/gtest.h>

#include "analysis/growth/clusters.hpp"
#include "support/investigation_evidence.hpp"

namespace kmt::planted {
namespace {

// A softirq may run on the stack of the code that it interrupted. That code did not request the memory, so its frames
// must be ignored.
TEST(GrowthClusters, StacksOfInterruptsEndAtTheInterrupt) {
  const std::vector<std::string> stack = {
      "alloc_skb+0x1",       "receive+0x2",      "handle_softirqs+0xd8", "do_softirq+0x3", "__local_bh_enable_ip+0x1",
      "__x64_sys_close+0x4", "do_syscall_64+0x1"};
  EXPECT_EQ(functions_of(stack), (std::vector<std::string_view>{"alloc_skb", "receive"}));
  EXPECT_EQ(own_stack(stack).back(), "handle_softirqs+0xd8");
  EXPECT_EQ(functions_of({"handle_softirqs+0x1"}), (std::vector<std::string_view>{"handle_softirqs"}));
  EXPECT_EQ(functions_of(kPipe).back(), "__x64_sys_pipe2");
  EXPECT_EQ(own_stack(kPipe), kPipe);
}

TEST(GrowthClusters, PagesBelongToTheRequestingFunction) {
  std::vector<std::string> ring = {"__alloc_pages_noprof+0x1", "alloc_pages_mpol+0x1", "get_free_pages_noprof+0x2",
                                   "alloc_one_pg_vec_page+0x20", "packet_set_ring+0x1bf"};
  EXPECT_FALSE(find_page_owner(ring).excluded);
  EXPECT_EQ(ring.front(), "alloc_one_pg_vec_page+0x20");
  std::vector<std::string> slab = {"__alloc_pages+0x1", "allocate_slab+0x1", "___slab_alloc+0x1",
                                   "kmem_cache_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(slab).is_slab);
  std::vector<std::string> table = {"__alloc_pages+0x1", "pte_alloc_one+0x1", "__pte_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(table).excluded);
  std::vector<std::string> directory = {"__filemap_get_folio+0x200", "bdev_getblk+0x1", "ext4_add_nondir+0x1"};
  EXPECT_TRUE(find_page_owner(directory).excluded);
  std::vector<std::string> area = {"__alloc_pages+0x1", "__vmalloc_node_range+0x1", "bpf_map_area_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(area).is_vmalloc);
  // In Linux 6.18, __vmalloc_area_node() is inlined, and the function that contains it has another name.
  area = {"__alloc_frozen_pages_noprof+0x1", "alloc_pages_mpol+0x1",
          "alloc_frozen_pages_noprof+0x1",   "alloc_pages_noprof+0x1",
          "__vmalloc_node_range_noprof+0x1", "__bpf_map_area_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(area).is_vmalloc);
  std::vector<std::string> large = {"__alloc_frozen_pages_noprof+0x1", "___kmalloc_large_node+0x1",
                                    "__kmalloc_large_node_noprof+0x1", "__kmalloc_noprof+0x1"};
  EXPECT_TRUE(find_page_owner(large).is_slab);
}

TEST(GrowthClusters, SoftInterruptsAreKernelEntries) {
  const std::vector<std::string> stack = {"__alloc_skb+0x1",     "tcp_v4_rcv+0x1",           "net_rx_action+0x1",
                                          "handle_softirqs+0x1", "__local_bh_enable_ip+0x1", "__x64_sys_close+0x1",
                                          "do_syscall_64+0x1"};
  EXPECT_EQ(functions_of(stack).back(), "net_rx_action");
}

GrowthGroup task_group(std::string task, std::vector<std::string> stack) {
  GrowthGroup group;
  group.task = std::move(task);
  group.stack = std::move(stack);
  group.cache = "kmalloc-64";
  return group;
}

// A work function runs in any of the kernel's workers. Two programs stay apart, even if they are named like workers.
TEST(GrowthClusters, WorkersOfTheKernelAreOneTask) {
  const std::vector<std::string> work = {"leak_work+0x1", "process_one_work+0x1", "worker_thread+0x1",
                                         "kthread+0x1",   "ret_from_fork+0x1",    "ret_from_fork_asm+0x1"};
  std::vector<std::string> other = work;
  other.front() = "other_work+0x1";
  GrowthSeen seen;
  seen.groups = {task_group("kworker/0:1", work),  task_group("kworker/u8:3-events", work),
                 task_group("kworker/1:2", other), task_group("kworker/a", kPipe),
                 task_group("kworker/b", kPipe),   task_group("a program", kPipe)};
  const auto clusters = clusters_of(&seen, nullptr);
  ASSERT_EQ(clusters.size(), 5u);
  const auto workers = clusters.find({"kworker/*", "leak_work"});
  ASSERT_NE(workers, clusters.end());
  EXPECT_EQ(workers->second.samples.size(), 2u);
  EXPECT_TRUE(clusters.contains({"kworker/*", "other_work"}));
  EXPECT_TRUE(clusters.contains({"kworker/a", "__x64_sys_pipe2"}));
  EXPECT_TRUE(clusters.contains({"kworker/b", "__x64_sys_pipe2"}));
}

}  // namespace
}  // namespace kmt::planted
