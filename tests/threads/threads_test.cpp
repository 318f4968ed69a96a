// SPDX-License-Identifier: GPL-2.0-or-later
// Runs multi-threaded code under ThreadSanitizer: analyses in stages, and recording with threads that read, encode and
// store. Recording needs root and tracefs and is skipped otherwise (a failure if KMEMTRACE_REQUIRE_LIVE=1).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "analysis/report/pipeline.hpp"
#include "capture/bpf/record/recorder.hpp"
#include "capture/features/events.hpp"
#include "capture/ftrace/recorder.hpp"
#include "capture/tracefs/mount.hpp"
#include "formats/kmt/recording.hpp"
#include "formats/registry.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return fmt::format("{:#x}", address); }
};

std::uint64_t events_of(const std::string& path) {
  const std::unique_ptr<Source> source = open_trace(path);
  EventBatch batch;
  std::uint64_t events = 0;
  while (source->read(batch)) events += batch.size();
  return events;
}

TEST(Pipeline, ResultDoesNotDependOnThreads) {
  const auto rows_by = [](unsigned threads) {
    const std::unique_ptr<Source> source = open_trace(std::string(std::getenv("KMEMTRACE_DATA")) + "/amd64/trace.dat");
    const NoNames names;
    // The first two reports share a matching.
    std::vector<ReportRequest> requests(3);
    requests[0].by = {GroupKey::call_site, GroupKey::task, GroupKey::size};
    requests[1].by = {GroupKey::cpu};
    requests[1].history = requests[1].traffic = true;
    requests[2].filter.cpus = {0};
    std::vector<std::unique_ptr<ReportAnalysis>> analyses;
    std::vector<ReportAnalysis*> pointers;
    for (ReportRequest& request : requests)
      pointers.push_back(
          analyses.emplace_back(std::make_unique<ReportAnalysis>(source->info(), names, std::move(request))).get());
    run_analyses(*source, pointers, threads);
    std::vector<std::string> rows;
    for (ReportAnalysis* const analysis : pointers)
      for (const GroupTable& table : analysis->finish().groups)
        for (const GroupRow& row : table.rows)
          rows.push_back(
              fmt::format("{} {} {} {}", row.allocations, row.matched_frees, row.bytes_allocated, row.live_bytes));
    return rows;
  };
  const std::vector<std::string> rows = rows_by(1);
  EXPECT_GT(rows.size(), 100u);
  EXPECT_EQ(rows, rows_by(4));
}

class Recorder : public testing::Test {
 protected:
  void SetUp() override {
    if (!tracefs.path.empty() && ::geteuid() == 0) return;
    if (std::getenv("KMEMTRACE_REQUIRE_LIVE") != nullptr) FAIL() << "tracefs cannot be used: " << tracefs.reason;
    GTEST_SKIP() << "needs root and tracefs: " << tracefs.reason;
  }
  ~Recorder() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }

  RecordRequest request(const std::string& clock) const {
    RecordRequest request;
    request.events = default_events(tracefs.path, available_events(tracefs.path)).present;
    request.stacks = request.user_stacks = true;
    request.duration_ns = 1'500'000'000;
    request.sample_interval_ns = 100'000'000;
    request.preferred_buffer_bytes = 4 << 20;
    request.most_buffer_bytes = 64 << 20;
    request.clock = clock;
    request.scratch_directory = directory;
    return request;
  }

  // Records while two threads of this process create pipes.
  void check(const std::function<RecordOutcome(const RecordHooks&, const OpenSink&)>& record_with) {
    std::optional<kmt_format::Recording> recording;
    const std::string path = directory + "/trace.kmt";
    const OpenSink open = [&](const KernelDescription& kernel, const std::vector<unsigned>& cpus) -> RecordingSink* {
      recording.emplace(path, kernel, cpus, std::nullopt, std::nullopt);
      return &recording->encoder();
    };
    RecordHooks hooks;
    hooks.interrupted = [] { return false; };
    hooks.progress = [&](const RecordProgress&, const auto&) { recording->encoder().ask_for_blocks(); };
    hooks.described = open;
    hooks.sampled = [&](const StateSample& sample) { recording->add(sample); };
    hooks.mapped = [&](UserMemory memory) { recording->add(std::move(memory)); };
    std::atomic<bool> done = false;
    const auto work = [&done] {
      while (!done) {
        int ends[2];
        if (::pipe(ends) != 0) return;
        ::close(ends[0]);
        ::close(ends[1]);
      }
    };
    std::thread one(work);
    std::thread other(work);
    const RecordOutcome outcome = record_with(hooks, open);
    done = true;
    one.join();
    other.join();
    EXPECT_EQ(outcome.end, RecordEnd::duration);
    TraceDescription end;
    end.kernel = outcome.recording.kernel;
    recording->finish(end);
    EXPECT_GT(events_of(path), 1000u);
  }

  TracefsMount tracefs = find_tracefs();
  std::string directory = std::filesystem::temp_directory_path() / fmt::format("kmemtrace-threads-{}", ::getpid());

 private:
  const bool made_ = std::filesystem::create_directory(directory);
};

TEST_F(Recorder, WorksWithTracefs) {
  check([this](const RecordHooks& hooks, const OpenSink&) { return record(tracefs.path, request("mono"), hooks); });
}

TEST_F(Recorder, WorksWithBpfPrograms) {
  check([this](const RecordHooks& hooks, const OpenSink& open) {
    return record_by_bpf(tracefs.path, request("mono"), hooks, open);
  });
}

}  // namespace
}  // namespace kmt
