// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/health.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/file.hpp"
#include "base/units.hpp"
#include "results/snapshot/page_census.hpp"
#include "snapshot/parse.hpp"

namespace kmt {
namespace {

using Files = std::map<std::string, std::string>;

const std::string kSlabHeader =
    "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
    "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

// The kernel lists this cache last. A copy without it is cut off.
const std::string kOldestCache = "kmem_cache 0 0 256 16 1 : tunables 0 0 0 : slabdata 0 0 0\n";

// Returns the files of a machine with 8 GiB, of which the kernel needs little. All amounts in meminfo are in kB.
Files healthy_machine() {
  return {
      {"meminfo",
       "MemTotal: 8000000 kB\nMemFree: 1000000 kB\nMemAvailable: 5000000 kB\nBuffers: 100000 kB\nCached: 3500000 kB\n"
       "AnonPages: 2500000 kB\nShmem: 100000 kB\nSlab: 400000 kB\nSReclaimable: 250000 kB\nSUnreclaim: 150000 kB\n"
       "KReclaimable: 250000 kB\nKernelStack: 20000 kB\nPageTables: 60000 kB\nVmallocUsed: 100000 kB\n"
       "Percpu: 20000 kB\nHardwareCorrupted: 0 kB\nBalloon: 0 kB\nHugePages_Total: 0\nHugePages_Free: 0\n"
       "HugePages_Rsvd: 0\nHugepagesize: 2048 kB\n"},
      {"slabinfo",
       kSlabHeader + "kmalloc-512 9000 10000 512 16 2 : tunables 0 0 0 : slabdata 625 625 0\n" + kOldestCache},
      {"vmallocinfo", "0xffffc90000000000-0xffffc90000005000   20480 alloc_big+0x1/0x2 pages=4 vmalloc\n"},
      {"zoneinfo", "Node 0, zone Normal\n  pages free 250000\n        min 11000\n        managed 2000000\n"},
      {"buddyinfo", "Node 0, zone Normal 100 50 30 100 100 100 100 100 100 100 200\n"},
      {"sockstat", "TCP: inuse 5 orphan 0 tw 0 alloc 9 mem 40\nUDP: inuse 2 mem 3\n"},
      {"pressure",
       "some avg10=9.00 avg60=5.00 avg300=2.50 total=9000000\nfull avg10=9.00 avg60=5.00 avg300=50.00 total=8000000\n"},
      {"cgroups", "/cgroup.stat:nr_dying_descendants 40\n/jobs/cgroup.stat:nr_dying_descendants 30\n"},
  };
}

std::map<HealthTopic, HealthCheck> checks_of(const Files& files) {
  StateSample sample;
  for (const auto& [name, text] : files) sample.texts.emplace_back(name, text);
  std::map<HealthTopic, HealthCheck> checks;
  for (HealthCheck& check : take_stock(parse_snapshot(sample, 4096)).health) checks[check.topic] = std::move(check);
  return checks;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Health, AHealthyMachineHasNoWarnings) {
  const auto checks = checks_of(healthy_machine());
  EXPECT_EQ(checks.size(), health_limits().size());
  for (const auto& [topic, check] : checks)
    if (topic != HealthTopic::slab_padding && topic != HealthTopic::polluted_blocks) {
      EXPECT_EQ(check.health, Health::ok) << limits_of(topic).id;
    }
  EXPECT_EQ(checks.at(HealthTopic::slab_padding).health, Health::unknown) << "/sys/kernel/slab was not read";
  EXPECT_EQ(checks.at(HealthTopic::polluted_blocks).health, Health::unknown) << "page frames were not counted";
}

// If a file lacks some caches, callers, cgroups or zones, a sum over the others would be too small, so the check is
// unknown.
TEST(Health, PartsOfFilesShowNothing) {
  Files files = healthy_machine();
  files["slab"] = "kmalloc-512/object_size:500\nkmalloc-512/slab_size:512\n";
  const std::map<std::string, std::vector<HealthTopic>> kChecks = {
      {"slabinfo", {HealthTopic::kmalloc, HealthTopic::empty_slabs, HealthTopic::slab_padding}},
      {"vmallocinfo", {HealthTopic::vmalloc_caller}},
      {"cgroups", {HealthTopic::dying_cgroups}},
      {"buddyinfo", {HealthTopic::fragmentation}},
      {"zoneinfo", {HealthTopic::min_free}},
  };
  const auto whole = checks_of(files);
  for (const auto& [file, topics] : kChecks) {
    Files part = files;
    part["missing"] = file + "\tonly the first 16 MiB were read\t\n";
    const auto checks = checks_of(part);
    for (const HealthTopic topic : topics) {
      EXPECT_NE(whole.at(topic).health, Health::unknown) << limits_of(topic).id;
      EXPECT_EQ(checks.at(topic).health, Health::unknown) << limits_of(topic).id;
    }
  }
  // grep keeps only the matching lines of the file.
  files["slabinfo"] = "kmalloc-512 9000 10000 512 16 2 : tunables 0 0 0 : slabdata 625 625 0\n";
  EXPECT_EQ(checks_of(files).at(HealthTopic::kmalloc).health, Health::unknown);
}

struct Fault {
  HealthTopic topic;
  const char* file;
  const char* from;
  const char* to;
  Health expected;
  double value;
};

// Each change affects only the check for this topic.
TEST(Health, EachFaultIsFoundByItsOwnCheck) {
  const Fault kFaults[] = {
      {HealthTopic::available, "meminfo", "MemAvailable: 5000000", "MemAvailable: 320000", Health::warn, 0.04},
      {HealthTopic::available, "meminfo", "MemAvailable: 5000000", "MemAvailable: 80000", Health::bad, 0.01},
      {HealthTopic::unreclaimable_slab, "meminfo", "SUnreclaim: 150000", "SUnreclaim: 800000", Health::warn, 0.1},
      {HealthTopic::unreclaimable_slab, "meminfo", "SUnreclaim: 150000", "SUnreclaim: 2400000", Health::bad, 0.3},
      {HealthTopic::kmalloc, "slabinfo", "9000 10000 512 16 2 : tunables 0 0 0 : slabdata 625 625",
       "2000000 2000000 512 16 2 : tunables 0 0 0 : slabdata 125000 125000", Health::warn, 0.125},
      {HealthTopic::kernel_stacks, "meminfo", "KernelStack: 20000", "KernelStack: 480000", Health::bad, 0.06},
      {HealthTopic::page_tables, "meminfo", "PageTables: 60000", "PageTables: 400000", Health::warn, 0.05},
      {HealthTopic::percpu, "meminfo", "Percpu: 20000", "Percpu: 800000", Health::bad, 0.1},
      {HealthTopic::vmalloc_caller, "vmallocinfo", "pages=4", "pages=140000", Health::warn, 0.07},
      {HealthTopic::sockets, "sockstat", "mem 40", "mem 200000", Health::bad, 0.1000015},
      {HealthTopic::dying_cgroups, "cgroups", "dying_descendants 30", "dying_descendants 12000", Health::bad, 12000},
      {HealthTopic::unaccounted, "meminfo", "AnonPages: 2500000", "AnonPages: 500000", Health::bad, 0.29},
      {HealthTopic::fragmentation, "buddyinfo", "100 50 30 100 100 100 100 100 100 100 200",
       "100000 20000 10 1 1 1 1 0 0 0 0", Health::bad, 0.99914},
      {HealthTopic::min_free, "zoneinfo", "min 11000", "min 120000", Health::warn, 0.06},
      {HealthTopic::hugetlb, "meminfo", "HugePages_Free: 0", "HugePages_Free: 1000", Health::bad, 0.256},
      {HealthTopic::balloon, "meminfo", "Balloon: 0", "Balloon: 8000000", Health::bad, 0.5},
      {HealthTopic::pressure, "pressure", "avg300=2.50", "avg300=10.00", Health::warn, 0.1},
      {HealthTopic::pressure, "pressure", "avg300=2.50", "avg300=41.20", Health::bad, 0.412},
      {HealthTopic::corrupted, "meminfo", "HardwareCorrupted: 0", "HardwareCorrupted: 4", Health::warn, 4096},
  };
  const auto healthy = checks_of(healthy_machine());
  for (const Fault& fault : kFaults) {
    Files files = healthy_machine();
    files[fault.file] = replaced(files[fault.file], fault.from, fault.to);
    for (const auto& [topic, check] : checks_of(files)) {
      SCOPED_TRACE(std::string(limits_of(fault.topic).id) + ", check " + std::string(limits_of(topic).id));
      if (topic == fault.topic) {
        EXPECT_EQ(check.health, fault.expected);
        EXPECT_NEAR(check.value.value_or(-1), fault.value, fault.value * 1e-3);
      } else if (topic != HealthTopic::unaccounted) {  // unaccounted memory changes if any other amount does
        EXPECT_EQ(check.health, healthy.at(topic).health);
      }
    }
  }
}

// On a small board, a large share of the memory is only some megabytes, which must not be a warning.
TEST(Health, SmallAmountsAreNoFault) {
  const auto checks =
      checks_of({{"meminfo",
                  "MemTotal: 120000 kB\nMemFree: 20000 kB\nBuffers: 1000 kB\nCached: 20000 kB\nAnonPages: 20000 kB\n"
                  "Shmem: 1000 kB\nSlab: 40000 kB\nSUnreclaim: 35000 kB\nKernelStack: 1000 kB\nPageTables: 1000 kB\n"
                  "VmallocUsed: 1000 kB\n"}});
  EXPECT_NEAR(checks.at(HealthTopic::unreclaimable_slab).value.value_or(0), 0.29, 0.01);
  EXPECT_EQ(checks.at(HealthTopic::unreclaimable_slab).health, Health::ok);
  EXPECT_EQ(checks.at(HealthTopic::available).health, Health::unknown) << "Linux before 3.14 has no MemAvailable";
  EXPECT_EQ(checks.at(HealthTopic::percpu).health, Health::unknown);
  EXPECT_EQ(checks.at(HealthTopic::dying_cgroups).health, Health::unknown);
}

// Only /sys/kernel/slab shows how much of an object is padding.
TEST(Health, PaddingOfDebugOptions) {
  Files files = healthy_machine();
  files["slabinfo"] =
      kSlabHeader + "kmalloc-512 400000 400000 1024 16 4 : tunables 0 0 0 : slabdata 25000 25000 0\n" + kOldestCache;
  files["slab"] = "kmalloc-512/object_size:512\nkmalloc-512/slab_size:1024\n";
  const HealthCheck check = checks_of(files).at(HealthTopic::slab_padding);
  EXPECT_EQ(check.health, Health::bad);
  EXPECT_NEAR(check.value.value_or(0), 0.5, 1e-6);
}

TEST(Health, PollutedBlocksOfACensus) {
  SnapshotResult snapshot;
  const auto health_with = [&](std::uint64_t mixed, std::uint64_t all) {
    auto census = std::make_shared<PageCensus>();
    census->pageblocks.mixed = mixed;
    census->pageblocks.all = all;
    snapshot.pages = census;
    const std::vector<HealthCheck> checks = health_of(snapshot);
    return *std::ranges::find(checks, HealthTopic::polluted_blocks, &HealthCheck::topic);
  };
  EXPECT_EQ(health_with(749, 1000).health, Health::ok);
  EXPECT_EQ(health_with(750, 1000).health, Health::warn);
  EXPECT_EQ(health_with(900, 1000).health, Health::bad);
  EXPECT_EQ(health_with(900, 1000).value, 0.9);
  EXPECT_EQ(health_with(0, 0).health, Health::unknown);
}

TEST(Health, ADamagedFileWithTooManyOrders) {
  Files files = healthy_machine();
  files["buddyinfo"] = "Node 0, zone Normal";
  for (int i = 0; i < 200; ++i) files["buddyinfo"] += " 9";
  files["buddyinfo"] += '\n';
  EXPECT_EQ(checks_of(files).at(HealthTopic::fragmentation).health, Health::ok);
}

TEST(Health, TheDocumentHasTheLimits) {
  const std::string document = read_file(std::string(KMEMTRACE_DOCS) + "/health.md");
  for (const HealthLimits& limits : health_limits()) {
    const auto text = [&](double limit) {
      switch (limits.unit) {
        case HealthUnit::share: return fmt::format("{:g}%", 100 * limit);
        case HealthUnit::count: return fmt::format("{:g}", limit);
        case HealthUnit::bytes: break;
      }
      return humane_bytes(static_cast<std::uint64_t>(limit));
    };
    const std::size_t row = document.find(fmt::format("| `{}` |", limits.id));
    ASSERT_NE(row, std::string::npos) << limits.id;
    const std::string line = document.substr(row, document.find('\n', row) - row);
    EXPECT_TRUE(line.ends_with(fmt::format("| {} | {} |", text(limits.warn), text(limits.bad)))) << line;
  }
}

}  // namespace
}  // namespace kmt
