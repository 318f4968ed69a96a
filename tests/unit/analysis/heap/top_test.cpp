// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/top.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "views/json/top.hpp"
#include "views/text/heap/heap_profile.hpp"
#include "views/text/heap/top.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "function" + std::to_string(address); }
};

std::string cgroup_text(std::uint64_t id) { return "cgroup " + std::to_string(id); }

constexpr std::uint64_t kBytes = 1 << 20;
// Mean bytes between samples. Allocations are much larger, so each is sampled and represents only itself.
constexpr std::uint64_t kMean = 4096;

HeapSite site_of(std::uint32_t process) {
  HeapSite site;
  site.call_site = 7;
  site.bytes_each = kBytes;
  site.process = process;
  site.comm = "short";
  site.cgroup = 1;
  site.events = 1;
  site.requested = site.allocated = kBytes;
  return site;
}

HeapSample sample_of(std::uint32_t process) {
  static constexpr std::uint64_t kStack[] = {7, 8, 9};
  HeapSample sample;
  sample.pointer = 0x1000 * std::uint64_t{process};
  sample.call_site = 7;
  sample.requested = sample.allocated = kBytes;
  sample.cgroup = 1;
  sample.process = process;
  sample.followed = true;
  sample.comm = "short";
  sample.stack = kStack;
  return sample;
}

const TopRow* find(const TopResult& result, const std::string& name) {
  const auto found = std::ranges::find(result.rows, name, &TopRow::name);
  return found == result.rows.end() ? nullptr : &*found;
}

// All call sites of a module are one row, with the live bytes of their samples.
TEST(TopAccount, ModulesHaveTheSumsOfTheirCallSites) {
  class Names : public SymbolNames {
   public:
    std::string name(std::uint64_t address) const override {
      return address == 9 ? "copy_process+0x9" : "f" + std::to_string(address) + "+0x1 [drv]";
    }
  };
  const Names names;
  TopAccount account({TopView::modules}, kMean, names, cgroup_text);
  std::vector<HeapSite> sites;
  for (const std::uint64_t at : {0u, 7u, 8u, 9u}) {
    sites.push_back(site_of(1));
    sites.back().call_site = at;
    HeapSample sample = sample_of(1);
    sample.pointer = 0x1000 * (at + 1);
    sample.call_site = at;
    if (at == 0) sample.stack = {};
    account.samples().add(sample);
  }
  account.add_interval(sites, 1'000'000'000);
  const TopResult modules = account.result(TopView::modules);
  EXPECT_EQ(modules.rows.size(), 3u);
  ASSERT_TRUE(find(modules, "drv") && find(modules, "[kernel]") && find(modules, "unknown"));
  EXPECT_EQ(find(modules, "drv")->allocated, 2 * kBytes);
  EXPECT_DOUBLE_EQ(find(modules, "drv")->live_bytes->value, 2 * kBytes);
  for (const char* const name : {"[kernel]", "unknown"}) {
    EXPECT_EQ(find(modules, name)->allocated, kBytes) << name;
    EXPECT_DOUBLE_EQ(find(modules, name)->live_bytes->value, kBytes) << name;
  }
  EXPECT_EQ(account.stacks(TopView::modules).at("drv").size(), 2u) << "a stack of each call site";
}

// A row of an owner of code has the sums of its call sites.
TEST(TopAccount, SubsystemsAndDirectoriesHaveTheSumsOfTheirCallSites) {
  class Names : public SymbolNames {
   public:
    std::string name(std::uint64_t address) const override {
      constexpr const char* kFunctions[] = {"ext4_alloc_inode+0x1", "ext4_find_extent+0x1 [ext4]",
                                            "xfs_trans_alloc+0x1", "drv_probe+0x1 [drv]", "a_function_of_nobody+0x1"};
      return kFunctions[address % std::size(kFunctions)];
    }
    std::string_view module_directories() const override { return "ext4 fs/ext4\ndrv [out of tree]\n"; }
  };
  const Names names;
  TopAccount account({TopView::call_sites, TopView::subsystems, TopView::directories}, kMean, names, cgroup_text);
  std::vector<HeapSite> sites;
  for (std::uint64_t at = 1; at <= 20; ++at) {
    sites.push_back(site_of(1));
    sites.back().call_site = at;
    sites.back().allocated = kBytes * (1 + at % 3);
    HeapSample sample = sample_of(1);
    sample.pointer = 0x1000 * at;
    sample.call_site = at;
    account.samples().add(sample);
  }
  account.add_interval(sites, 1'000'000'000);
  const TopResult call_sites = account.result(TopView::call_sites);
  const TopResult directories = account.result(TopView::directories);
  const TopResult subsystems = account.result(TopView::subsystems);
  const auto sum = [&](std::initializer_list<std::uint64_t> addresses) {
    std::uint64_t bytes = 0;
    for (const std::uint64_t address : addresses) bytes += find(call_sites, names.name(address))->allocated;
    return bytes;
  };
  ASSERT_EQ(directories.rows.size(), 5u);
  EXPECT_EQ(find(directories, "fs/ext4")->allocated, sum({1}));
  EXPECT_EQ(find(directories, "fs/ext4 (guess)")->allocated, sum({0}));
  EXPECT_EQ(find(directories, "fs/xfs (guess)")->allocated, sum({2}));
  ASSERT_EQ(subsystems.rows.size(), 4u);
  EXPECT_EQ(find(subsystems, "file systems")->allocated, sum({1}));
  EXPECT_EQ(find(subsystems, "file systems (guess)")->allocated, sum({0, 2}));
  EXPECT_EQ(find(subsystems, "[out of tree]")->allocated, sum({3}));
  EXPECT_EQ(find(subsystems, "unknown")->allocated, sum({4}));
  double live = 0;
  for (const TopRow& row : subsystems.rows) live += row.live_bytes ? row.live_bytes->value : 0;
  double live_of_sites = 0;
  for (const TopRow& row : call_sites.rows) live_of_sites += row.live_bytes ? row.live_bytes->value : 0;
  EXPECT_NEAR(live, live_of_sites, 1e-6 * live_of_sites);
  EXPECT_EQ(account.stacks(TopView::subsystems).size(), 4u);
}

TEST(TopAccount, ShortLivedProcessesAreBoundedAndTheirSumsKept) {
  constexpr std::uint32_t kProcesses = 50'000;
  const NoNames names;
  TopAccount account({TopView::call_sites, TopView::stacks, TopView::processes}, kMean, names, cgroup_text);
  for (std::uint32_t process = 1; process <= kProcesses; process += 10) {
    std::vector<HeapSite> sites;
    for (std::uint32_t i = process; i < process + 10; ++i) {
      sites.push_back(site_of(i));
      account.samples().add(sample_of(i));
      if (i != 5) account.samples().end({sample_of(i).pointer, 0});
    }
    account.add_interval(sites, 1'000'000'000);
  }
  const TopResult processes = account.result(TopView::processes);
  EXPECT_LE(processes.rows.size(), TopAccount::kMostRows);
  std::uint64_t events = 0;
  double live = 0;
  for (const TopRow& row : processes.rows) {
    events += row.events;
    live += row.live_bytes ? row.live_bytes->value : 0;
  }
  EXPECT_EQ(events, kProcesses);
  EXPECT_DOUBLE_EQ(live, kBytes);
  EXPECT_EQ(find(processes, "short-50000")->events_now, 1u);
  EXPECT_FALSE(find(processes, "short-1"));
  EXPECT_GT(find(processes, "[others]")->events, 25'000u);
  EXPECT_DOUBLE_EQ(find(processes, "[others]")->live_bytes->value, kBytes);  // process 5 still has one object
  EXPECT_GT(processes.rows_merged, 0u);

  const HeapProfileResult samples = account.samples().result({HeapKey::process});
  EXPECT_LE(samples.rows.size(), 3 * HeapProfile::kMostEndedGroups);
  EXPECT_EQ(samples.slab.samples, kProcesses);
  EXPECT_EQ(samples.slab.live_samples, 1u);
  // Merged groups keep the properties that are equal in all of them, such as the stack.
  const TopResult stacks = account.result(TopView::stacks);
  ASSERT_EQ(stacks.rows.size(), 1u);
  EXPECT_EQ(stacks.rows[0].allocated, kProcesses * kBytes);
}

TEST(TopAccount, AllocationsInInterruptsBelongToNoCgroup) {
  const NoNames names;
  TopAccount account({TopView::cgroups}, kMean, names, cgroup_text);
  HeapSite site = site_of(0);
  site.context = AllocationContext::softirq;
  site.cgroup = 0;
  HeapSample sample = sample_of(1);
  sample.context = site.context;
  sample.cgroup = 0;
  account.samples().add(sample);
  account.add_interval({site, site_of(1)}, 1'000'000'000);
  const TopResult result = account.result(TopView::cgroups);
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(find(result, "[softirq]")->live_bytes->value, kBytes);
  EXPECT_EQ(find(result, "cgroup 1")->events, 1u);
  EXPECT_TRUE(account.samples().drawn().cgroups.empty());
}

TEST(TopAccount, IdleTasksAreOneProcessInSumsAndSamples) {
  const NoNames names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  HeapSite site = site_of(0);
  site.comm = "swapper/0";
  HeapSample sample = sample_of(0);
  sample.pointer = 0x1000;
  sample.comm = "swapper/0";
  account.samples().add(sample);
  account.add_interval({site}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  ASSERT_TRUE(result.rows[0].live_bytes);
  EXPECT_DOUBLE_EQ(result.rows[0].live_bytes->value, kBytes);
}

TEST(TopAccount, AnExecedProcessHasItsNewNameWithoutNewSamples) {
  const NoNames names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  HeapSite renamed = site_of(1);
  renamed.comm = "make";
  account.samples().add(sample_of(1));
  account.add_interval({site_of(1)}, 1'000'000'000);
  account.add_interval({renamed, site_of(1)}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0].name, "make-1");
}

TEST(TopAccount, AProcessIsOneRowWithItsNewestName) {
  const NoNames names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  HeapSite renamed = site_of(1);
  renamed.comm = "make";
  HeapSample of_make = sample_of(1);
  of_make.comm = "make";
  of_make.pointer = 0x9000;
  account.samples().add(sample_of(1));
  account.add_interval({site_of(1)}, 1'000'000'000);
  account.samples().add(of_make);
  account.add_interval({renamed, site_of(1)}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0].name, "make-1");
  EXPECT_EQ(result.rows[0].events, 3u);
  ASSERT_TRUE(result.rows[0].live_bytes);
  EXPECT_DOUBLE_EQ(result.rows[0].live_bytes->value, 2 * kBytes);
}

// Gives all functions the name allocate_slab.
class SlabNames : public NoNames {
 public:
  std::string name(std::uint64_t) const override { return "allocate_slab"; }
};

TEST(TopAccount, PagesOfSlabsAreNotCountedBesideTheirObjects) {
  const SlabNames names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  HeapSample pages = sample_of(1);
  pages.pointer = 0x8000;
  pages.pages = true;
  account.samples().add(sample_of(1));
  account.samples().add(pages);
  HeapSite site_of_pages = site_of(1);
  site_of_pages.pages = true;
  account.add_interval({site_of(1), site_of_pages}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(result.rows[0].live_bytes->value, kBytes);
  EXPECT_EQ(result.rows[0].allocated, kBytes);
  EXPECT_EQ(result.rows[0].requested, kBytes);
  EXPECT_EQ(result.rows[0].bytes_now, kBytes);
  EXPECT_EQ(result.rows[0].events, 2u);
  EXPECT_TRUE(account.samples().result({HeapKey::process}).rows.back().slab_pages);
}

// Gives every address the function name vma_alloc_folio_noprof.
class UserNames : public NoNames {
 public:
  std::string name(std::uint64_t) const override { return "vma_alloc_folio_noprof"; }
};

TEST(TopAccount, UserMemoryIsNotCounted) {
  const UserNames names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  HeapSample pages = sample_of(1);
  pages.pages = true;
  account.samples().add(pages);
  account.add_interval({site_of(1)}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_FALSE(result.rows[0].live_bytes);
  EXPECT_TRUE(account.samples().result({HeapKey::process}).rows.front().user_pages);
}

TEST(TopAccount, PagesWithoutSlabsAreCountedByTheShareOfTheirSamples) {
  const NoNames names;
  TopAccount account({TopView::processes, TopView::orders}, kMean, names, cgroup_text);
  HeapSite pages = site_of(1);
  pages.pages = true;
  HeapSample sample = sample_of(1);
  sample.pages = true;
  account.samples().add(sample);
  HeapSite without_samples = pages;
  without_samples.process = 2;
  account.add_interval({pages, without_samples, site_of(2)}, 1'000'000'000);
  TopResult result = account.result(TopView::processes);
  sort_rows(result.rows, TopColumn::allocated);
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].allocated, 2 * kBytes);
  EXPECT_EQ(result.rows[1].allocated, kBytes);
  EXPECT_EQ(account.result(TopView::orders).rows.at(0).allocated, 2 * kBytes);
}

TEST(HeapProfile, NamesUserMemoryOnlyIfItHasSome) {
  const auto text = [](const SymbolNames& names) {
    HeapProfile profile(kMean, names, cgroup_text);
    HeapSample sample = sample_of(1);
    sample.pages = true;
    profile.add(sample);
    HeapProfileResult result = profile.result({HeapKey::call_site});
    result.has_pages = true;
    return text_heap_profile(result, names, 0, {});
  };
  EXPECT_NE(text(UserNames()).find("Pages, including slab pages and user memory"), std::string::npos);
  EXPECT_EQ(text(SlabNames()).find("including slab pages and user memory"), std::string::npos);
}

TEST(TopAccount, StacksOfARowBelongToItsAllocator) {
  const NoNames names;
  TopAccount account({TopView::call_sites, TopView::stacks, TopView::processes}, kMean, names, cgroup_text);
  account.samples().add(sample_of(1));
  HeapSample pages = sample_of(2);  // the pages of the slab, which have the stack of the object
  pages.pages = true;
  account.samples().add(pages);
  account.add_interval({site_of(1)}, 1'000'000'000);
  auto stacks = account.stacks(TopView::call_sites)["function7"];
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].allocated, kBytes);
  EXPECT_EQ(account.stacks(TopView::processes).size(), 2u);
  const TopResult all = account.result(TopView::stacks);
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_EQ(all.rows[0].name, "function7 < function8");
  EXPECT_EQ(account.stacks(TopView::stacks)["function7 < function8"].size(), 1u);
  EXPECT_NE(text_top(all, names, {}, {}).find("*Allocated"), std::string::npos);
  TopOptions filtered;
  filtered.filter = "nothing";
  EXPECT_NE(text_top(all, names, filtered, {}).find("No name contains \"nothing\"."), std::string::npos);
}

TEST(TopAccount, ReportsUntracedFrees) {
  const NoNames names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  account.samples().add(sample_of(1));
  account.samples().end({sample_of(1).pointer, 0, true});
  account.add_interval({site_of(1)}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  EXPECT_EQ(result.replaced, 1u);
  EXPECT_NE(text_top(result, names, {}, {}).find("1 untraced frees"), std::string::npos);
  EXPECT_NE(json_top(result, names).find("\"replaced\":1"), std::string::npos);
}

TEST(TopAccount, KeepsOnlyRowsOfTheShownViews) {
  const NoNames names;
  TopAccount account({TopView::call_sites}, kMean, names, cgroup_text);
  account.add_interval({site_of(1)}, 1'000'000'000);
  EXPECT_EQ(account.result(TopView::call_sites).rows.size(), 1u);
  EXPECT_TRUE(account.result(TopView::processes).rows.empty());
}

TEST(HeapProfile, MergesStacksOfFreedObjectsIfThereAreTooMany) {
  const NoNames names;
  HeapProfile profile(kMean, names, cgroup_text);
  constexpr std::uint64_t kStacks = 50'000;
  for (std::uint64_t i = 1; i <= kStacks; ++i) {
    HeapSample sample = sample_of(1);
    sample.pages = true;
    const std::uint64_t stack[] = {0, i};  // the innermost frame is the BPF program
    sample.stack = stack;
    sample.call_site = 0;
    profile.add(sample);
    profile.end({sample.pointer, 0});
  }
  const HeapProfileResult result = profile.result({HeapKey::stack, HeapKey::cgroup});
  EXPECT_LE(result.rows.size(), 3 * HeapProfile::kMostEndedGroups);
  EXPECT_EQ(result.pages.samples, kStacks);
  EXPECT_TRUE(std::ranges::any_of(result.rows, [](const HeapRow& row) { return row.keys[1] == "[others]"; }));
}

class NamesOfRefill : public NoNames {
 public:
  std::string name(std::uint64_t address) const override {
    return address == 7 ? "alloc_bulk+0x141" : NoNames::name(address);
  }
};

// The BPF memory allocator allocates in an interrupt for the task that it interrupted.
TEST(TopAccount, RefillsOfBpfBelongToTheInterruptedProcess) {
  const NamesOfRefill names;
  TopAccount account({TopView::processes}, kMean, names, cgroup_text);
  HeapSite site = site_of(12);
  HeapSample sample = sample_of(12);
  site.context = sample.context = AllocationContext::hardirq;
  account.samples().add(sample);
  account.add_interval({site}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows.front().name, "short-12");
  EXPECT_EQ(result.rows.front().process, 12u);
  EXPECT_TRUE(result.rows.front().live_bytes);
  EXPECT_NE(json_top(result, names).find("\"pid\":12"), std::string::npos);
}

TEST(TopAccount, LiveBytesAreAtMostAllocatedBytes) {
  const NoNames names;
  constexpr std::uint64_t kRare = 256 * kBytes;  // a sample's estimate is far above its own bytes
  TopAccount account({TopView::processes}, kRare, names, cgroup_text);
  account.samples().add(sample_of(12));
  account.add_interval({site_of(12)}, 1'000'000'000);
  const TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows.front().live_bytes->value, kBytes);
  EXPECT_EQ(result.rows.front().live_bytes->high, kBytes);
}

// A sample of a large object stands for more bytes than its call site allocated, so the live bytes of
// the call site are limited. Rows of owners must not have more live bytes than their call sites.
TEST(TopAccount, OwnersHaveTheLimitedLiveBytesOfTheirCallSites) {
  const NoNames names;
  constexpr std::uint64_t kRare = 256 * kBytes;
  const std::vector<TopView> views = {TopView::call_sites, TopView::modules, TopView::subsystems, TopView::directories};
  TopAccount account(views, kRare, names, cgroup_text);
  HeapSite rare = site_of(1), frequent = site_of(1);
  frequent.call_site = 8;
  frequent.allocated = frequent.requested = 1000 * kBytes;
  HeapSample sample = sample_of(1);
  account.samples().add(sample);
  account.add_interval({rare, frequent}, 1'000'000'000);
  const auto live_bytes = [&account](TopView view) {
    double sum = 0;
    for (const TopRow& row : account.result(view).rows) sum += row.live_bytes ? row.live_bytes->value : 0;
    return sum;
  };
  EXPECT_EQ(live_bytes(TopView::call_sites), kBytes);
  for (const TopView view : views) EXPECT_EQ(live_bytes(view), kBytes);
}

TopResult net_result(CacheCounting counting) {
  TopResult result;
  result.view = TopView::net;
  result.interval_ns = 2'000'000'000;
  result.counting = counting;
  const CacheCounts all{counting, {{"filp", 192, 30, 20, 11}, {"dentry", 256, 0, 9, {}}}, {}};
  const CacheCounts now{counting, {{"filp", 192, 10, 0, {}}}, {}};
  if (counting == CacheCounting::counted) result.rows = rows_of_caches(all, now);
  return result;
}

TEST(TopNet, ShowsTheLargestChangeFirst) {
  TextStyle style;
  style.raw = true;
  const std::string text = text_top(net_result(CacheCounting::counted), NoNames(), {}, style);
  const std::size_t first = text.find("dentry"), second = text.find("filp");
  EXPECT_LT(first, second) << text;
  // 10 objects of 192 bytes in two seconds
  for (const char* const part : {"*Net bytes", "-2304 B", "+1920 B", "+960 B", "+11"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
}

TEST(TopNet, RowsInJsonHaveTheCountsOfStat) {
  const auto json = nlohmann::json::parse(json_top(net_result(CacheCounting::counted), NoNames()));
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["name"], "filp");
  EXPECT_EQ(row["net_objects"], 10);
  EXPECT_EQ(row["net_bytes"], 1920);
  EXPECT_EQ(row["slabinfo_objects"], 11);
  EXPECT_EQ(row["interval_allocations"], 10);
  EXPECT_TRUE(json["rows"][1]["slabinfo_objects"].is_null());
  EXPECT_EQ(json["rows"][1]["interval_frees"], 0);
}

TEST(TopNet, AnOldKernelHasNoRowsAndANote) {
  const TopResult result = net_result(CacheCounting::unsupported);
  EXPECT_NE(text_top(result, NoNames(), {}, {}).find("needs Linux 6.13"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(json_top(result, NoNames()))["rows"].is_null());
}

TEST(TopAccount, TextShowsTheIntervalOfLiveBytes) {
  const NoNames names;
  TopAccount account({TopView::processes}, kBytes, names, cgroup_text);
  account.samples().add(sample_of(12));
  account.add_interval({site_of(12)}, 1'000'000'000);
  TopResult result = account.result(TopView::processes);
  ASSERT_EQ(result.rows.size(), 1u);
  result.rows.front().live_bytes = Estimate{3 * kBytes, 2 * kBytes, 5 * kBytes};
  result.slab.live_bytes = *result.rows.front().live_bytes;
  TextStyle style;
  style.raw = true;
  const std::string text = text_top(result, names, {}, style);
  const std::string range = fmt::format("{} B to {} B", 2 * kBytes, 5 * kBytes);
  EXPECT_NE(text.find("Live, 95%"), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("live {} B ({})", 3 * kBytes, range)), std::string::npos) << text;
  EXPECT_NE(text.find(range + " "), std::string::npos) << text;
}

}  // namespace
}  // namespace kmt
