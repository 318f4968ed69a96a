// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which events an investigation records, depending on which events the kernel has.
#include "cli/investigate/events.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

// Folders of events like those in tracefs.
class InvestigateEvents : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const event : {"kmem/mm_page_alloc", "kmem/mm_page_free", "kmem/mm_page_free_batched",
                                    "kmem/kmalloc", "kmem/kfree", "task/task_newtask"}) {
      const fs::path folder = fs::path(tracefs.path()) / "events" / event;
      fs::create_directories(folder);
      std::ofstream(folder / "enable") << "0\n";
    }
  }
  RecordOptions selected(const Narrowing& narrowing) const {
    RecordOptions options;
    select_events(narrowing, tracefs.path(), {}, options);
    return options;
  }
  static bool has(const std::vector<std::string>& texts, const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
  }
  TemporaryFolder tracefs;
};

// A split allocation is freed page by page. If only frees of its order were recorded, the allocation would look live.
TEST_F(InvestigateEvents, FreesOfPartsAreRecorded) {
  Narrowing narrowing;
  narrowing.orders = {2, 3, 1};
  const RecordOptions options = selected(narrowing);
  EXPECT_TRUE(has(options.filters, "kmem:mm_page_alloc:!(gfp_flags & 8) && (order == 2 || order == 3 || order == 1)"));
  EXPECT_TRUE(has(options.filters, "kmem:mm_page_free:order <= 3"));
  EXPECT_TRUE(has(options.events, "kmem:mm_page_free"));
  // This event reports frees that another event reports too.
  EXPECT_FALSE(has(options.events, "kmem:mm_page_free_batched"));
}

TEST_F(InvestigateEvents, FreesOfAllPagesAreRecordedWithAllPages) {
  Narrowing narrowing;
  narrowing.pages = true;
  const RecordOptions options = selected(narrowing);
  EXPECT_TRUE(has(options.events, "kmem:mm_page_free"));
  EXPECT_TRUE(std::ranges::none_of(options.filters,
                                   [](const std::string& text) { return text.starts_with("kmem:mm_page_free"); }));
}

// A kfree event does not contain the size, so a filter cannot select frees by size.
TEST_F(InvestigateEvents, FreesOfKmallocAreNotFiltered) {
  Narrowing narrowing;
  narrowing.sizes = {1024};
  const RecordOptions options = selected(narrowing);
  EXPECT_EQ(options.events, (std::vector<std::string>{"kmem:kmalloc", "kmem:kfree", "task:task_newtask"}));
  EXPECT_EQ(options.filters, (std::vector<std::string>{"kmem:kmalloc:bytes_alloc == 1024"}));
}

// Events of tasks that wait are rare, unlike those of the pages that reclaim scans.
TEST_F(InvestigateEvents, WaitsAreRecorded) {
  for (const char* const event : {"vmscan/mm_vmscan_direct_reclaim_begin", "vmscan/mm_vmscan_lru_shrink_inactive",
                                  "compaction/mm_compaction_end"}) {
    const fs::path folder = fs::path(tracefs.path()) / "events" / event;
    fs::create_directories(folder);
    std::ofstream(folder / "enable") << "0\n";
  }
  Narrowing narrowing;
  narrowing.sizes = {1024};
  const RecordOptions options = selected(narrowing);
  EXPECT_EQ(options.events,
            (std::vector<std::string>{"kmem:kmalloc", "kmem:kfree", "vmscan:mm_vmscan_direct_reclaim_begin",
                                      "compaction:mm_compaction_end", "task:task_newtask"}));
}

}  // namespace
}  // namespace kmt
