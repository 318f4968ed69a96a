// SPDX-License-Identifier: GPL-2.0-or-later
// Tests code mappings in /proc that the kernel did not report.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "capture/sideband/unreported_code.hpp"

namespace kmt {
namespace {

using Kind = SpaceChange::Kind;

const std::string kProgram = "1000-3000 r-xp 00000000 08:01 42 /bin/program\n";
const std::string kOther = "1000-5000 r-xp 00000000 08:01 43 /bin/other\n";
const std::string kMade = "9000-a000 rwxp 00000000 00:00 0 \n";
const std::string kVdsoLine = "7f000000-7f001000 r-xp 00000000 00:00 0 [vdso]\n";

// Processes as /proc shows them, and changes that the kernel reports while /proc is read.
struct CodeMachine {
  std::map<std::int32_t, std::string> maps;
  MappedCode reported;
  std::vector<std::function<void()>> news;  // changes that happen during each reading of /proc
  std::size_t looks = 0;

  void tell(std::int32_t process, std::uint64_t time_ns, const std::string& text) {
    for (const MapsLine& line : code_in_maps(text))
      reported.add(place_of(process, time_ns, line), reported_path(line.path));
  }
  ProcessCodes look() {
    const auto processes = [this] {
      std::vector<std::int32_t> ids;
      for (const auto& [process, text] : maps) ids.push_back(process);
      return ids;
    };
    return read_process_code(reported, {processes,
                                        [this](std::int32_t process) {
                                          return ProcessMaps{maps[process], process};
                                        },
                                        [this] {
                                          if (looks < news.size()) news[looks]();
                                          ++looks;
                                        }});
  }
};

UnreportedCode unreported_by(const CodeMachine& machine, std::int32_t process, const std::string& text) {
  return unreported_code(machine.reported, {process, process, code_in_maps(text)});
}

TEST(UnreportedCode, IsFoundInProc) {
  CodeMachine machine;
  machine.tell(7, 10, kProgram + kVdsoLine);
  EXPECT_TRUE(unreported_by(machine, 7, kProgram + kVdsoLine).lines.empty());
  const UnreportedCode more = unreported_by(machine, 7, kProgram + kMade);
  ASSERT_EQ(more.lines.size(), 1u);
  EXPECT_EQ(more.lines[0].start, 0x9000u);
  EXPECT_FALSE(more.is_another);
  EXPECT_TRUE(unreported_by(machine, 7, kOther).is_another);
  EXPECT_TRUE(unreported_by(machine, 8, kProgram).is_another);
}

TEST(UnreportedCode, IgnoresGeneratedCodeInheritedFromTheParent) {
  CodeMachine machine;
  machine.tell(7, 10, kProgram);
  machine.reported.add(place_of(7, 11, code_in_maps(kMade)[0]), reported_path("/tmp/perf-7.map"));
  machine.reported.add({.time_ns = 20, .process = 8, .kind = Kind::forked, .parent = 7}, "");
  EXPECT_TRUE(unreported_by(machine, 8, kProgram + kMade).lines.empty());
}

TEST(ProcessCodes, ReadsChangedProcessesAgain) {
  CodeMachine machine;
  machine.tell(7, 10, kProgram);
  machine.tell(8, 10, kProgram);
  machine.maps = {{7, kProgram}, {8, kProgram}};
  // Process 8 was read before it executed a program, which is reported only now.
  machine.news = {[&] {
    machine.reported.add({.time_ns = 20, .process = 8, .kind = Kind::executed}, "");
    machine.tell(8, 21, kOther);
    machine.maps[8] = kOther;
  }};
  const ProcessCodes found = machine.look();
  EXPECT_EQ(machine.looks, 2u);
  ASSERT_EQ(found.code.size(), 2u);
  for (const ProcessCode& code : found.code)
    EXPECT_TRUE(unreported_code(machine.reported, code).lines.empty()) << code.process;
  EXPECT_TRUE(found.gone.empty());
}

TEST(ProcessCodes, SkipsProcessesThatAlwaysChange) {
  CodeMachine machine;
  machine.maps = {{7, kProgram}, {8, kProgram}};
  for (std::uint64_t i = 0; i < 100; ++i) machine.news.emplace_back([&machine, i] { machine.tell(8, 10 + i, kOther); });
  const ProcessCodes found = machine.look();
  EXPECT_LT(machine.looks, 10u);
  ASSERT_EQ(found.code.size(), 1u);
  EXPECT_EQ(found.code[0].process, 7);
}

TEST(ProcessCodes, MissesProcessesThatEndedUnreported) {
  CodeMachine machine;
  for (const std::int32_t process : {5, 6, 7, 8}) machine.tell(process, 10, kProgram);
  machine.maps = {{6, ""}, {7, kProgram}};  // process 6 is a zombie, which has no mappings
  machine.news = {[&] { machine.reported.ended(8, 20); }};
  const ProcessCodes found = machine.look();
  EXPECT_EQ(std::set(found.gone.begin(), found.gone.end()), (std::set<std::int32_t>{5, 6}));
}

}  // namespace
}  // namespace kmt
