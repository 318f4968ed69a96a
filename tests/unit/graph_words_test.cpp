// SPDX-License-Identifier: GPL-2.0-or-later
// What the words of `kmemtrace graph` are taken for.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "cli/graph_record.hpp"

namespace kmt {
namespace {

class GraphWords : public testing::Test {
 protected:
  GraphWords() { std::filesystem::current_path(folder_.path()); }
  ~GraphWords() override { std::filesystem::current_path(before_); }

  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
};

TEST_F(GraphWords, NameFilesWhereFilesAreOrSeemToBe) {
  std::ofstream("vfs_write") << "a trace";
  EXPECT_FALSE(name_functions({}, ""));
  for (const char* const word : {"-", "vfs_write", "./vfs_read", "not_there.kmt", "trace.dat", "perf.data", "a.txt"})
    EXPECT_FALSE(name_functions({word}, "")) << word;
  EXPECT_FALSE(name_functions({"cpu0.out", "vfs_write"}, ""));
}

TEST_F(GraphWords, NameFunctionsElse) {
  std::ofstream("vfs_write") << "a trace";
  for (const char* const word : {"vfs_read", "vfs_*", "loop:lo_open", "lo_open [loop]", "foo.isra.0", "a,b"})
    EXPECT_TRUE(name_functions({word}, "")) << word;
  EXPECT_TRUE(name_functions({"vfs_write"}, "-a"));
  EXPECT_TRUE(name_functions({}, "-a"));
}

TEST_F(GraphWords, AreRefusedWhereTheyCannotBeFunctions) {
  for (const char* const word : {"-", "trace.kmt", "/tmp/trace"}) EXPECT_THROW(name_functions({word}, "-o"), Error);
}

TEST_F(GraphWords, WhatAsksForARecording) {
  EXPECT_EQ(asks_for_recording({}), "");
  CallRecordOptions options;
  options.pids = {"812"};  // may be of a trace, too
  EXPECT_EQ(asks_for_recording(options), "");
  options.duration = "1s";
  EXPECT_EQ(asks_for_recording(options), "-d");
}

TEST(TemporaryFolder, GoesWithAllInIt) {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path + "/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace kmt
