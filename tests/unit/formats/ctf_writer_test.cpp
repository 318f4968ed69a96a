// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the folder that the CTF writer creates; tests/oracle checks its content with babeltrace2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/error.hpp"
#include "formats/ctf/records.hpp"
#include "formats/registry.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

class CtfWriter : public testing::Test {
 protected:
  CtfWriter() {
    std::string name = (fs::temp_directory_path() / "kmemtrace-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~CtfWriter() override { fs::remove_all(folder_); }

  fs::path path() const { return folder_ / "x.ctf"; }
  bool is_empty() const { return fs::is_empty(folder_); }

  fs::path folder_;
  Findings findings_;
};

TEST_F(CtfWriter, AppendsToAStream) {
  ctf::RecordWriter writer(path(), findings_);
  writer.describe({});
  for (const bool goes_on : {false, true, true}) {
    for (const unsigned cpu : {0u, 5u}) {
      writer.begin_stream({cpu, "", 4096, goes_on});
      writer.lost(3);
      writer.end_stream();
    }
  }
  EXPECT_FALSE(fs::exists(path()));  // the folder gets this name only when it is complete
  writer.finish();
  EXPECT_TRUE(fs::exists(path() / "kernel" / "metadata"));
  for (const char* const channel : {"channel0_0", "channel0_5"})
    EXPECT_GT(fs::file_size(path() / "kernel" / channel), 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  for (const fs::path& made : {path(), path() / "kernel"})
    EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
}

TEST_F(CtfWriter, ATraceWithoutStreamsBesideAnotherIsReported) {
  fs::create_directory(folder_ / "session");
  for (const bool has_stream : {false, true}) {
    ctf::RecordWriter writer(folder_ / "session" / (has_stream ? "b" : "a"), findings_);
    writer.describe({});
    if (has_stream) {
      writer.begin_stream({0, "", 4096, false});
      writer.lost(3);
      writer.end_stream();
    }
    writer.finish();
    // Traces of other tracers do not have this file.
    fs::remove(folder_ / "session" / (has_stream ? "b" : "a") / "description.kmt");
  }
  const auto source = open_trace(folder_ / "session");
  for (EventBatch batch; source->read(batch);) continue;
  EXPECT_EQ(source->info().losses.intervals.size(), 1u);
  const auto& found = source->info().findings.kept();
  const auto missing = std::ranges::find(found, Imperfection::missing_cpu, &Finding::kind);
  ASSERT_NE(missing, found.end());
  EXPECT_EQ(missing->detail, "a/kernel has no stream");
}

TEST_F(CtfWriter, ATraceWithoutAnyStreamIsReported) {
  {
    ctf::RecordWriter writer(path(), findings_);
    writer.describe({});
    writer.finish();
  }
  fs::remove(path() / "description.kmt");  // traces of other tracers do not have this file
  const auto source = open_trace(path());
  for (EventBatch batch; source->read(batch);) continue;
  const auto& found = source->info().findings.kept();
  const auto missing = std::ranges::find(found, Imperfection::missing_cpu, &Finding::kind);
  ASSERT_NE(missing, found.end());
  EXPECT_EQ(missing->detail, "the trace has no stream");
}

// While the trace is written, its folder has a random name, so that no other user can place a symlink with that name.
TEST_F(CtfWriter, UsesARandomTemporaryName) {
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) {
    ctf::RecordWriter writer(path(), findings_);
    writer.describe({});
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      names.insert(entry.path().filename());
      EXPECT_EQ(fs::status(entry).permissions(), fs::perms::owner_all);
    }
  }
  ASSERT_EQ(names.size(), 2u);
  for (const std::string& name : names) {
    EXPECT_TRUE(name.starts_with("x.ctf.unfinished-")) << name;
    EXPECT_EQ(name.size(), std::string("x.ctf.unfinished-").size() + 16) << name;
  }
}

TEST_F(CtfWriter, AFailureLeavesNoFiles) {
  {
    ctf::RecordWriter writer(path(), findings_);
    writer.describe({});
    writer.begin_stream({0, "", 4096});
    writer.end_stream();
    EXPECT_THROW(writer.begin_stream({0, "", 4096}), Error);  // a second ring buffer of the same CPU
    EXPECT_THROW(writer.begin_stream({1, "instance", 4096}), Error);
  }
  EXPECT_TRUE(is_empty());
}

TEST_F(CtfWriter, ReplacesOnlyAnEmptyFolder) {
  std::ofstream(path()) << "a file";
  EXPECT_THROW(ctf::RecordWriter(path(), findings_).describe({}), Error);
  fs::remove(path());
  fs::create_directory(path());
  {
    ctf::RecordWriter writer(path().string() + "/", findings_);
    writer.describe({});
    writer.finish();
  }
  EXPECT_TRUE(fs::exists(path() / "kernel" / "metadata"));
  EXPECT_THROW(ctf::RecordWriter(path(), findings_).describe({}), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace kmt
