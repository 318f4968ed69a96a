// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/ring_readers.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/page_builder.hpp"
#include "trace/ring_page.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

struct KeptPages : PageSink {
  void pages(unsigned, Bytes pages) override { kept.insert(kept.end(), pages.begin(), pages.end()); }
  std::vector<std::uint8_t> kept;
};

// Reads a CPU whose ring buffer has two pages, both after lost events. Returns for each page whether it says so.
std::vector<bool> losses_read(BeforeFirstPage oldest) {
  std::string folder = (fs::temp_directory_path() / "kmemtrace-test-XXXXXX").string();
  folder = ::mkdtemp(folder.data());
  fs::create_directories(folder + "/per_cpu/cpu0");
  std::ofstream ring(folder + "/per_cpu/cpu0/trace_pipe_raw", std::ios::binary);
  for (const std::uint64_t time : {1000u, 2000u}) {
    const auto page = test::PageBuilder(test::Machine{}, time).record(1, {5, 0, 0, 0}).missed_events(7).build();
    ring.write(reinterpret_cast<const char*>(page.data()), static_cast<std::streamsize>(page.size()));
  }
  ring.close();
  KeptPages sink;
  std::string error;
  RingReaders readers(folder, 4096, folder, &sink, oldest);
  readers.start();
  readers.finish(error);
  fs::remove_all(folder);
  EXPECT_EQ(error, "");
  std::vector<bool> losses;
  for (std::size_t at = 0; at + 4096 <= sink.kept.size(); at += 4096) {
    const PageHeader header = read_page_header(Bytes(sink.kept).subspan(at, 4096), PageLayout{});
    EXPECT_EQ(header.data_bytes, 8u);
    losses.push_back(header.end.missed_events || header.end.missed_count);
  }
  return losses;
}

TEST(RingReaders, OverwrittenEventsBeforeTheFirstPageAreNoLoss) {
  EXPECT_EQ(losses_read(BeforeFirstPage::overwritten), (std::vector<bool>{false, true}));
  EXPECT_EQ(losses_read(BeforeFirstPage::nothing), (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace kmt
