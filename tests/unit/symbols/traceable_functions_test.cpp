// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/traceable_functions.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

constexpr const char* kKallsyms =
    "ffffffff81000000 T _text\n"
    "ffffffff81001000 T vfs_read\n"
    "ffffffff81001100 T vfs_write\n"
    "ffffffff81001200 t release\n"
    "ffffffff81001300 t release\n"
    "ffffffff81001400 d release\n"
    "ffffffff81001500 t vfs_hidden\n"
    "ffffffff81001600 t alias_one\n"
    "ffffffff81001600 T alias_two\n"
    "ffffffffc0000000 t release\t[loop]\n"
    "ffffffffc0000100 t lo_open\t[loop]\n"
    "ffffffffc0001000 t ext4_open\t[ext4]\n";

constexpr const char* kNames =
    "vfs_read\nvfs_write\nrelease\nrelease\n__ftrace_invalid_address___8\nalias_one\nrelease [loop]\nlo_open [loop]\n"
    "ext4_open [ext4]\n";

// Functions are traced at their fifth byte, after endbr64 (x86 IBT).
constexpr const char* kPlaces =
    "ffffffff81001004 vfs_read\nffffffff81001104 vfs_write\nffffffff81001304 release\nffffffff81001604 alias_one\n"
    "ffffffff81001604 alias_two\nffffffffc0000004 release [loop]\nffffffffc0000104 lo_open [loop]\n"
    "ffffffffc0001004 ext4_open [ext4]\n";

TEST(TraceableFunctions, AreSelectedByNameAndGlob) {
  for (const char* const list : {kNames, kPlaces}) {
    const FunctionChoice choice = choose_functions(list, kKallsyms, {"vfs_*", "lo_open"});
    EXPECT_EQ(choice.functions, (std::vector<TraceableFunction>{{"vfs_read", "", 0xffffffff81001000},
                                                                {"vfs_write", "", 0xffffffff81001100},
                                                                {"lo_open", "loop", 0xffffffffc0000100}}));
    EXPECT_TRUE(choice.not_found.empty());
    EXPECT_TRUE(choice.namesakes.empty());
  }
}

TEST(TraceableFunctions, AreSelectedByModule) {
  for (const char* const pattern : {"loop:lo_*", "loop:*_open", "lo_open [loop]", "l*:lo_?pen"})
    EXPECT_EQ(choose_functions(kNames, kKallsyms, {pattern}).functions,
              (std::vector<TraceableFunction>{{"lo_open", "loop", 0xffffffffc0000100}}))
        << pattern;
  EXPECT_EQ(choose_functions(kNames, kKallsyms, {"*:*_open"}).functions.size(), 2u);
  EXPECT_EQ(choose_functions(kNames, kKallsyms, {"ext4:lo_open", "ext4:ext4_open"}).not_found,
            std::vector<std::string>{"ext4:lo_open"});
}

TEST(TraceableFunctions, UntraceableFunctionsAreNotFound) {
  const FunctionChoice choice = choose_functions(kPlaces, kKallsyms, {"vfs_hidden", "vfs_raed", "nobody*", "vfs_read"});
  EXPECT_EQ(choice.not_found, (std::vector<std::string>{"vfs_hidden", "vfs_raed", "nobody*"}));
  EXPECT_EQ(choice.functions.size(), 1u);
  EXPECT_TRUE(choose_functions(kNames, kKallsyms, {"__ftrace_*"}).functions.empty());
}

TEST(TraceableFunctions, OfOneNameAreDistinguishedByAddress) {
  const FunctionChoice choice = choose_functions(kPlaces, kKallsyms, {"release"});
  EXPECT_EQ(choice.functions, (std::vector<TraceableFunction>{{"release", "", 0xffffffff81001300},
                                                              {"release", "loop", 0xffffffffc0000000}}));
  EXPECT_TRUE(choice.namesakes.empty());
}

TEST(TraceableFunctions, OfOneNameAreAllOrNoneIfAddressesAreUnknown) {
  const FunctionChoice all = choose_functions(kNames, kKallsyms, {"release"});
  EXPECT_EQ(all.functions.size(), 3u);
  ASSERT_EQ(all.namesakes.size(), 1u);
  EXPECT_EQ(all.namesakes[0].name, "release");
  EXPECT_EQ(all.namesakes[0].chosen, 2u);
  EXPECT_EQ(all.namesakes[0].omitted, 0u);

  const FunctionChoice none = choose_functions("vfs_read\nrelease\n", kKallsyms, {"release", "vfs_read"});
  ASSERT_EQ(none.functions.size(), 1u);
  EXPECT_EQ(none.functions[0].name, "vfs_read");
  ASSERT_EQ(none.namesakes.size(), 1u);
  EXPECT_EQ(none.namesakes[0].chosen, 0u);
  EXPECT_EQ(none.namesakes[0].omitted, 1u);
}

TEST(TraceableFunctions, HaveUniqueAddresses) {
  const FunctionChoice choice = choose_functions(kPlaces, kKallsyms, {"alias_*"});
  EXPECT_EQ(choice.functions, (std::vector<TraceableFunction>{{"alias_one", "", 0xffffffff81001600}}));
}

// An address that is far from the function's symbol is left out. It belongs to another function of this name, or the
// symbols have changed since the list was read.
TEST(TraceableFunctions, AreNotFarAfterTheirSymbol) {
  const FunctionChoice choice = choose_functions("ffffffff81002000 vfs_write\n", kKallsyms, {"vfs_write"});
  EXPECT_TRUE(choice.functions.empty());
  ASSERT_EQ(choice.namesakes.size(), 1u);
  EXPECT_EQ(choice.namesakes[0].omitted, 1u);
}

}  // namespace
}  // namespace kmt
