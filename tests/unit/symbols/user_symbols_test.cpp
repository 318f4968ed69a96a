// SPDX-License-Identifier: GPL-2.0-or-later
// Tests names of user code that is in no program file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "symbols/user_symbols.hpp"

namespace kmt {
namespace {

class MadeCode : public testing::Test {
 protected:
  MadeCode() {
    code_.objects.push_back({"/tmp/perf-4711.map", "", ""});
    code_.frames.push_back({0x7f0000001010, UserCode::kFirstObject, 0});
    std::filesystem::create_directories(folder_.path() + "/tmp");
    const FileDescriptor map = open_file(folder_.path() + "/tmp/perf-4711.map", O_CREAT | O_WRONLY);
    const std::string text = "7f0000001000 100 LazyCompile:~main app.js:1\n";
    write_all(map.get(), text, "the map");
  }
  TemporaryFolder folder_;
  UserCode code_;
};

TEST_F(MadeCode, HasTheNamesWrittenByTheProgram) {
  UserSymbols symbols(code_, {folder_.path(), {}, false, false});
  EXPECT_EQ(symbols.name(0).function, "LazyCompile:~main app.js:1");
  EXPECT_EQ(symbols.name(0).object, "[JIT] tid 4711");
  EXPECT_EQ(symbols.name(0).offset, 0x10u);
  EXPECT_EQ(symbols.findings().count_of(Imperfection::no_user_symbols), 0u);
}

TEST_F(MadeCode, HasTheNamesInTheTraceIfPresent) {
  code_.objects.back().symbols = "7f0000001000 100 traced\n";
  UserSymbols symbols(code_, {folder_.path(), {}, false, false});
  EXPECT_EQ(symbols.name(0).function, "traced");
}

TEST_F(MadeCode, IsNotNamedFromAnotherMachine) {
  UserSymbols symbols(code_, {});
  EXPECT_EQ(symbols.name(0).function, "");
  EXPECT_EQ(symbols.findings().count_of(Imperfection::no_user_symbols), 1u);
}

TEST_F(MadeCode, IsNamedFromThisMachineIfPerfRecordedHere) {
  const std::string path = fmt::format("/tmp/perf-{}.map", ::getpid());
  {
    const FileDescriptor map = open_file(path, O_CREAT | O_WRONLY | O_TRUNC);
    const std::string text = "7f0000001000 100 made_here\n";
    write_all(map.get(), text, path);
  }
  code_.objects.back().path = path;
  EXPECT_EQ(UserSymbols(code_, {}).name(0).function, "");
  EXPECT_EQ(UserSymbols(code_, {"", {}, false, true}).name(0).function, "made_here");
  ::unlink(path.c_str());
}

class Fetching : public testing::Test {
 protected:
  Fetching() {
    code_.objects.push_back({"/usr/bin/not-here", "0123456789abcdef0123456789abcdef01234567", ""});
    code_.frames.push_back({0x1010, UserCode::kFirstObject, 0});
  }
  // Returns the reasons for missing names, which the findings contain.
  std::string said() {
    UserSymbols symbols(code_, {"", {}, true, false});
    symbols.name(0);
    std::string text;
    const Findings findings = symbols.findings();
    for (const Finding& finding : findings.kept()) text += finding.detail + "\n";
    return text;
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("DEBUGINFOD_URLS");
  }
  const char* const given_ = std::getenv("PATH");
  const std::string path_ = given_ == nullptr ? "" : given_;
  UserCode code_;
};

TEST_F(Fetching, NeedsAServer) {
  ::unsetenv("DEBUGINFOD_URLS");
  EXPECT_NE(said().find("$DEBUGINFOD_URLS names no server"), std::string::npos) << said();
}

TEST_F(Fetching, NeedsAProgram) {
  ::setenv("DEBUGINFOD_URLS", "http://localhost:1", 1);
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_NE(said().find("the program debuginfod-find is not installed"), std::string::npos) << said();
}

TEST_F(Fetching, ReportsThatNoServerHasTheFile) {
  const TemporaryFolder folder;
  const std::string program = folder.path() + "/debuginfod-find";
  {
    const FileDescriptor file = open_file(program, O_CREAT | O_WRONLY);
    write_all(file.get(), "#!/bin/sh\nexit 1\n", program);
  }
  ::chmod(program.c_str(), 0700);
  ::setenv("DEBUGINFOD_URLS", "http://localhost:1", 1);
  ::setenv("PATH", (folder.path() + ":" + path_).c_str(), 1);
  EXPECT_NE(said().find("no server of $DEBUGINFOD_URLS has its debug info"), std::string::npos) << said();
}

}  // namespace
}  // namespace kmt
