// SPDX-License-Identifier: GPL-2.0-or-later
// Tests what the words on the command line of `kmemtrace graph` mean.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "cli/record/graph.hpp"
#include "cli/record/messages.hpp"
#include "support/made_types.hpp"

namespace kmt {
namespace {

class GraphWords : public testing::Test {
 protected:
  GraphWords() { std::filesystem::current_path(folder_.path()); }
  ~GraphWords() override { std::filesystem::current_path(before_); }

  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
};

TEST_F(GraphWords, ThatLookLikeFilesAreFiles) {
  std::ofstream("vfs_write") << "a trace";
  EXPECT_FALSE(name_functions({}, ""));
  for (const char* const word : {"-", "vfs_write", "./vfs_read", "not_there.kmt", "trace.dat", "perf.data", "a.txt"})
    EXPECT_FALSE(name_functions({word}, "")) << word;
  EXPECT_THROW(name_functions({"cpu0.out", "vfs_write"}, ""), Error);
  std::ofstream("cpu0.out") << "a relay file";
  EXPECT_FALSE(name_functions({"cpu0.out", "vfs_write"}, ""));
}

TEST_F(GraphWords, OtherwiseNameFunctions) {
  std::ofstream("vfs_write") << "a trace";
  for (const char* const word : {"vfs_read", "vfs_*", "loop:lo_open", "lo_open [loop]", "foo.isra.0", "a,b"})
    EXPECT_TRUE(name_functions({word}, "")) << word;
  EXPECT_TRUE(name_functions({"vfs_write"}, "-a"));
  EXPECT_TRUE(name_functions({}, "-a"));
}

TEST_F(GraphWords, ThatCannotBeFunctionsAreRefused) {
  for (const char* const word : {"-", "trace.kmt", "/tmp/trace"}) EXPECT_THROW(name_functions({word}, "-o"), Error);
}

TEST_F(GraphWords, ATraceWithAFunctionIsExplained) {
  try {
    name_functions({"reads.kmt", "vfs_read"}, "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "\"reads.kmt\" is a trace, but \"vfs_read\" is not: there is no such file");
    EXPECT_NE(error.hint().find("kmemtrace graph reads.kmt -F vfs_read;"), std::string::npos) << error.hint();
  }
}

TEST_F(GraphWords, OptionsThatRequireARecording) {
  EXPECT_EQ(asks_for_recording({}), "");
  CallRecordOptions options;
  options.pids = {"812"};  // this option may also select calls of an existing trace
  EXPECT_EQ(asks_for_recording(options), "");
  options.duration = "1s";
  EXPECT_EQ(asks_for_recording(options), "-d");
}

TEST(GraphFunctions, OfSeveralModulesAreRefused) {
  EXPECT_NO_THROW(check_modules({{"probe", "loop", 1}, {"probe", "loop", 2}, {"open", "", 3}}));
  EXPECT_THROW(check_modules({{"probe", "", 1}, {"probe", "loop", 2}}), Error);
  try {
    check_modules({{"probe", "loop", 1}, {"probe", "nbd", 2}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "probe is in loop and in nbd, and one recording cannot distinguish their calls");
    EXPECT_EQ(error.hint(), "Choose one of them: nbd:probe");
  }
}

TEST(GraphFunctions, VariantsByTheCompilerAreNamed) {
  const std::string traceable = "vfs_read\nmark_page.isra.0\nmark_page.part.0\nmark_pages\n";
  const std::string kallsyms = "ffffffff81000000 t notrace_me\n";
  EXPECT_NE(no_such_function("mark_page", traceable, kallsyms).hint().find("mark_page.isra.0, mark_page.part.0"),
            std::string::npos);
  EXPECT_NE(no_such_function("vfs_raed", traceable, kallsyms).hint().find("Did you mean \"vfs_read\"?"),
            std::string::npos);
  EXPECT_EQ(no_such_function("kmem_cache_alloc", "kmem_cache_alloc_bulk_noprof\nkmem_cache_alloc_noprof\n", "").hint(),
            "In this kernel, the function is called kmem_cache_alloc_noprof");
  EXPECT_NE(no_such_function("notrace_me", traceable, kallsyms).hint().find("notrace"), std::string::npos);
}

TEST(GraphFunctions, ModuleNamesAreNoPatterns) {
  EXPECT_FALSE(has_wildcards("open_it [ext4]"));
  EXPECT_FALSE(has_wildcards("ext4:open_it"));
  for (const char* const pattern : {"open_* [ext4]", "open_[ab]", "ext*:open_it", "open_it [ext?]", "open_[ab] [ext4]"})
    EXPECT_TRUE(has_wildcards(pattern)) << pattern;
  const std::string traceable = "vfs_read\next4_read [ext4]\n";
  const Error in_module = no_such_function("ext4_read [xfs]", traceable, "");
  EXPECT_STREQ(in_module.what(), "This kernel can trace no function called \"ext4_read [xfs]\"");
  EXPECT_EQ(in_module.hint(), "There is such a function in ext4: ext4:ext4_read");
  EXPECT_EQ(no_such_function("vfs_read [xfs]", traceable, "").hint(),
            "There is such a function in the kernel itself: give the name without a module");
  EXPECT_NE(no_such_function("ext4_raed [ext4]", traceable, "").hint().find("Did you mean \"ext4_read\"?"),
            std::string::npos);
}

TEST(GraphFunctions, HaveTheArgumentsOfConditions) {
  const test::MadeFiles files({kHostOrder, sizeof(long)});
  const CallTypes types{files.bytes, {{"read_file", {{"file->comm", true}}}}};
  const std::vector<TraceableFunction> functions = {{"read_file", "", 1}, {"untyped", "", 2}};
  const auto conditions = [](const std::vector<const char*>& texts) {
    std::vector<CallCondition> parsed;
    for (const char* const text : texts) parsed.push_back(parse_call_condition(text));
    return parsed;
  };
  EXPECT_NO_THROW(
      check_conditions(types, functions, conditions({"count>5", "file->comm==\"\"", "mode==FAST", "ret<0"})));
  EXPECT_NO_THROW(check_conditions({}, functions, conditions({"anything==1"})));
  for (const char* const text : {"file->comm==sh", "file->comm==\"sh\""})
    EXPECT_TRUE(check_conditions(types, functions, conditions({text}))) << text;
  EXPECT_FALSE(check_conditions(types, functions, conditions({"count>5", "mode==FAST", "ret<0"})));
  EXPECT_THROW(check_conditions(types, functions, conditions({"mode==FSAT"})), Error);
  try {
    check_conditions(types, functions, conditions({"count==1", "cuont==1"}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("\"cuont\""), std::string::npos);
    EXPECT_NE(error.hint().find("count, file, file->comm, flags, mode, name, sync"), std::string::npos) << error.hint();
  }
}

TEST(GraphFunctions, RegistersAreExplained) {
  const std::vector<std::string> traceable = {"ksys_read", "vfs_read"};
  const std::vector<TraceableFunction> functions = {{"vfs_read", "", 1}, {"__x64_sys_read", "", 2}};
  EXPECT_EQ(
      registers_note(functions, {}, traceable),
      "__x64_sys_read has the registers of the program as its argument: --show 'regs->di' shows the first argument "
      "of the system call (the others are si, dx, r10, r8, r9); ksys_read has separate arguments");
  EXPECT_EQ(
      registers_note({{"__arm64_sys_openat", "", 2}}, {}, traceable),
      "__arm64_sys_openat has the registers of the program as its argument: --show 'regs->regs[0]' shows the first "
      "argument of the system call (the others are regs[1] to regs[5])");
  EXPECT_EQ(registers_note(functions, {"file->f_flags", "regs->di"}, traceable), "");
  EXPECT_EQ(registers_note({{"vfs_read", "", 1}}, {}, traceable), "");
}

TEST(TemporaryFolder, IsRemovedWithItsContents) {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path + "/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MissedLine, DistinguishesOneFromMany) {
  EXPECT_EQ(missed_line("", 1, false), "1 of the lost events was missed by a BPF program, probably in an interrupt");
  EXPECT_EQ(missed_line("", 1200, false),
            "1,200 of the lost events were missed by BPF programs, most of them in interrupts");
  EXPECT_TRUE(missed_line("", 1, true).ends_with(", and may belong to a task that is not recorded"));
  EXPECT_TRUE(missed_line("", 1200, true).ends_with("all tasks, including tasks that are not recorded"));
  EXPECT_TRUE(missed_line("vfs_read", 1, true).starts_with("1 of the lost events is a start or end of vfs_read that"));
  EXPECT_TRUE(
      missed_line("vfs_read", 2, true).starts_with("2 of the lost events are starts and ends of vfs_read that"));
}

}  // namespace
}  // namespace kmt
