// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which NUMA node memory is on. tests/vm/nodes_test.py compares it with the counters of a kernel with two nodes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include <elf.h>

#include "trace/info/memory_nodes.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kDirectMap = 0xffff'8a40'0000'0000;  // differs at each boot

// Two nodes of 1 GiB, as /proc/zoneinfo of Linux 6.1 describes them.
const std::string kZoneinfo =
    "Node 0, zone      DMA\n  per-node stats\n      nr_free_pages 12\n  pages free     2298\n        spanned  4095\n"
    "        present  3998\n        managed  3840\n  start_pfn:           1\n"
    "Node 0, zone    DMA32\n  pages free     200\n        spanned  258048\n        present  258048\n"
    "        managed  250000\n    cpu: 0\n              count: 7\n  start_pfn:           4096\n"
    "Node 0, zone   Normal\n  pages free     0\n        spanned  0\n        present  0\n        managed  0\n"
    "Node 1, zone    DMA32\n  pages free     9\n        spanned  262144\n        present  262112\n"
    "        managed  250000\n  start_pfn:           262144\n"
    "Node 2, zone   Device\n  pages free     0\n        spanned  512\n        present  0\n        managed  0\n"
    "  start_pfn:           900000\n";

Event event_of(EventKind kind, std::uint64_t address) {
  Event event{};
  event.kind = kind;
  event.address = address;
  return event;
}

class Nodes : public ::testing::Test {
 protected:
  Nodes() { machine.page_size = 4096; }
  std::optional<unsigned> page(std::uint64_t frame) const { return of(EventKind::page_alloc, frame); }
  std::optional<unsigned> object(std::uint64_t address) const { return of(EventKind::kmalloc, address); }
  std::optional<unsigned> of(EventKind kind, std::uint64_t address) const {
    return MemoryNodes(machine, recording).node_of(event_of(kind, address));
  }

  TraceMachine machine;
  TraceRecording recording;
};

TEST_F(Nodes, TheNoteListsZonesWithMemory) {
  EXPECT_EQ(memory_nodes_note(kZoneinfo), "0 1 4095\n0 4096 258048\n1 262144 262144\n");
  EXPECT_EQ(memory_nodes_note(""), "");
}

TEST_F(Nodes, PagesAreOnTheNodeOfTheirZone) {
  recording.notes["memory_nodes"] = memory_nodes_note(kZoneinfo);
  EXPECT_EQ(page(0), std::nullopt);
  EXPECT_EQ(page(1), 0u);
  EXPECT_EQ(page(262143), 0u);
  EXPECT_EQ(page(262144), 1u);
  EXPECT_EQ(page(524287), 1u);
  EXPECT_EQ(page(524288), std::nullopt);
  EXPECT_EQ(page(kNoPage), std::nullopt) << "a failed allocation";
  recording.page_identity = PageIdentity::struct_page;
  EXPECT_EQ(page(262144), std::nullopt) << "before Linux 4.1, events have no page frame numbers";
}

TEST_F(Nodes, ObjectsNeedTheDirectMap) {
  recording.notes["memory_nodes"] = memory_nodes_note(kZoneinfo);
  EXPECT_EQ(object(kDirectMap + 0x1000), std::nullopt);
  recording.notes["direct_map"] =
      "ffff8a4000001000 1000 9e000\nffff8a4000100000 100000 3ff00000\nffff8a4040000000 40000000 40000000\n";
  EXPECT_EQ(object(kDirectMap + 0x1000), 0u);
  EXPECT_EQ(object(kDirectMap + 0x3fffffff), 0u);
  EXPECT_EQ(object(kDirectMap + 0x40000000), 1u);
  EXPECT_EQ(object(kDirectMap + 0x80000000), std::nullopt);
  EXPECT_EQ(object(kDirectMap + 0xa0000), std::nullopt) << "a hole";
  EXPECT_EQ(object(0), std::nullopt) << "a failed allocation";
  EXPECT_EQ(of(EventKind::vmap_alloc, kDirectMap + 0x40000000), std::nullopt);
  EXPECT_EQ(of(EventKind::percpu_alloc, 0x40000000), std::nullopt);
}

TEST_F(Nodes, WithOneNodeAllMemoryIsOnIt) {
  recording.samples.push_back({0, 0, {{"zoneinfo", kZoneinfo.substr(0, kZoneinfo.find("Node 1"))}}});
  EXPECT_EQ(page(900000), 0u);
  EXPECT_EQ(object(kDirectMap), 0u);
  EXPECT_EQ(of(EventKind::vmap_alloc, 0xffffc90000000000), 0u);
  EXPECT_EQ(of(EventKind::percpu_alloc, 0x40000), 0u);
  EXPECT_EQ(object(0), std::nullopt);
  recording.samples.push_back({9, 9, {{"zoneinfo", kZoneinfo}}});
  EXPECT_EQ(page(1), std::nullopt) << "a second node was added";
}

// Firmware may interleave the nodes' memory, so that their zones overlap.
TEST_F(Nodes, FramesInZonesOfTwoNodesAreUnknown) {
  recording.notes["memory_nodes"] = "0 0 1000\n1 400 200\n0 900 300\nx 1 2\n1 5\n99999999 1 2\n";
  EXPECT_EQ(page(399), 0u);
  EXPECT_EQ(page(400), std::nullopt);
  EXPECT_EQ(page(599), std::nullopt);
  EXPECT_EQ(page(600), 0u);
  EXPECT_EQ(page(950), 0u) << "two zones of the same node";
  EXPECT_EQ(page(1199), 0u);
  EXPECT_EQ(page(1200), std::nullopt);
}

TEST_F(Nodes, TheDirectMapIsReadFromKcore) {
  const std::vector<Elf64_Phdr> segments = {
      {PT_NOTE, 0, 0x158, 0, 0, 0x1000, 0, 0},
      {PT_LOAD, 7, 0x7fff81002000, 0xffffffff81000000, 0x1b000000, 0x2000000, 0x2000000, 4096},
      {PT_LOAD, 7, 0x490000003000, 0xffffc90000000000, UINT64_MAX, 0x1fffffffffff, 0x1fffffffffff, 4096},
      {PT_LOAD, 7, 0x888000003000, 0xffff8a4000001000, 0x1000, 0x9e000, 0x9e000, 4096},
      {PT_LOAD, 7, 0x888000102000, 0xffff8a4000100000, 0, 0x1000, 0x1000, 4096}};
  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_phoff = sizeof elf;
  elf.e_phentsize = sizeof(Elf64_Phdr);
  elf.e_phnum = static_cast<Elf64_Half>(segments.size());
  std::vector<std::uint8_t> bytes(sizeof elf + segments.size() * sizeof(Elf64_Phdr));
  std::memcpy(bytes.data(), &elf, sizeof elf);
  std::memcpy(bytes.data() + sizeof elf, segments.data(), segments.size() * sizeof(Elf64_Phdr));
  EXPECT_EQ(direct_map_note(bytes), "ffffffff81000000 1b000000 2000000\nffff8a4000001000 1000 9e000\n");
  bytes.resize(bytes.size() - 20);
  EXPECT_EQ(direct_map_note(bytes), "") << "cut off";
  EXPECT_EQ(direct_map_note({}), "");
}

}  // namespace
}  // namespace kmt
