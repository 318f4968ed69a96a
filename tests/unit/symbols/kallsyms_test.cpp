// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kallsyms.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kmt {
namespace {

TEST(Kallsyms, NamesAddressesByThePrecedingSymbol) {
  const Kallsyms names(
      "ffffffff81000000 T first\nffffffff81000100 t second\nffffffffc0000000 t third\t[ext4]\n"
      "ffffffffc0000200 t end\t[ext4]\n");
  EXPECT_EQ(names.name(0xffffffff81000000), "first+0x0");
  EXPECT_EQ(names.name(0xffffffff810000ff), "first+0xff");
  EXPECT_EQ(names.name(0xffffffff81000100), "second+0x0");
  EXPECT_EQ(names.name(0xffffffffc000003c), "third+0x3c [ext4]");
}

TEST(Kallsyms, ShowsUncoveredAddressesInHex) {
  const Kallsyms names("1000 T first\n2000 T last\n");
  EXPECT_EQ(names.name(0xfff), "0xfff");
  EXPECT_EQ(names.name(0x2000), "last+0x0");
  EXPECT_EQ(names.name(0x2001), "0x2001");
  EXPECT_EQ(Kallsyms("").name(0xffffffff81000000), "0xffffffff81000000");
}

TEST(Kallsyms, DoesNotNameAddressesAfterAModule) {
  const Kallsyms names(
      "ffffffff81000000 T kernel\nffffffffc0001000 t inner\t[loop]\nffffffffc0009000 t other\t[brd]\n",
      parse_modules(
          "loop 8192 1 - Live 0xffffffffc0000000 (E)\nbroken\nbrd 4096 0 dep,dep2, Live 0xffffffffc0009000\n"));
  EXPECT_EQ(names.name(0xffffffffc0001fff), "inner+0xfff [loop]");
  EXPECT_EQ(names.name(0xffffffffc0002000), "0xffffffffc0002000");
  EXPECT_EQ(names.name(0xffffffff81000010), "kernel+0x10");
  const std::uint64_t after[] = {0xffffffffc0002000};
  EXPECT_EQ(names.text_for(after), "");
}

TEST(Kallsyms, ChoosesTheFirstOfSeveralNames) {
  const Kallsyms names("1000 t gic_handle_irq\n1000 T _stext\n1000 T __irqentry_text_start\n2000 T end\n");
  EXPECT_EQ(names.name(0x1010), "gic_handle_irq+0x10");
}

TEST(Kallsyms, ChoosesTheFirstOfSeveralNamesInUnsortedText) {
  const Kallsyms names("2000 T end\n1000 t one\n3000 T beyond\n1000 T two\n");
  EXPECT_EQ(names.name(0x1010), "one+0x10");
  EXPECT_EQ(names.name(0x2fff), "end+0xfff");
}

TEST(Kallsyms, ReturnsTheLinesForSomeAddresses) {
  const Kallsyms all("1000 T first\n1100 t second\n1200 t third\t[ext4]\n1300 t fourth\n1400 T last\n");
  const std::vector<std::uint64_t> addresses = {0x1210, 0x10, 0x1400, 0x1210, 0x1017};
  const std::string text = all.text_for(addresses);
  const Kallsyms some(text);
  for (const std::uint64_t address : addresses) EXPECT_EQ(some.name(address), all.name(address));
  EXPECT_EQ(some.name(0x1300), "fourth+0x0");  // the third symbol ends here
  EXPECT_EQ(some.size(), 5u);
  EXPECT_EQ(Kallsyms(all.text_for(std::vector<std::uint64_t>{0x1001})).size(), 2u);
}

TEST(Kallsyms, IgnoresMappingSymbolsAndAbsoluteSymbols) {
  const Kallsyms names("1000 t function\n1008 t $x\n100c t $d\n1010 A fixed_percpu_data\n2000 T end\n");
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(names.name(0x1014), "function+0x14");
}

TEST(Kallsyms, IsEmptyIfAddressesAreHidden) {
  const Kallsyms names("0000000000000000 T first\n0000000000000000 t second\n");
  EXPECT_EQ(names.size(), 0u);
  EXPECT_EQ(names.name(0xffffffff81000000), "0xffffffff81000000");
}

TEST(Kallsyms, AcceptsLowAddresses) {
  const Kallsyms names("0000000000100000 T _stext\n000000000044ae00 t here\n000000000044b000 T end\n");
  EXPECT_EQ(names.name(0x44ae9c), "here+0x9c");
}

TEST(Kallsyms, SkipsInvalidLines) {
  const Kallsyms names(
      "\n\nnonsense\n1000\n1000 T\n1000 T \n1000  x y\n12345678901234567 T too_long\n-5 T minus\n"
      "1000 T good\n2000 T no_newline");
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(names.name(0x1001), "good+0x1");
  EXPECT_EQ(names.name(0x2000), "no_newline+0x0");
}

TEST(Kallsyms, IgnoresAnUnclosedModuleName) {
  const Kallsyms names("1000 T good\t[half\n2000 T end\t]odd[\n");
  EXPECT_EQ(names.name(0x1001), "good+0x1");
  EXPECT_EQ(names.name(0x2000), "end+0x0");
}

TEST(Kallsyms, SurvivesRandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text(1000, '\0');
    for (char& c : text) c = "0123456789abcdef T\t[]\n$A\xff"[random() % 26];
    const Kallsyms names(text);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(names.name(random()).empty());
    EXPECT_FALSE(names.name(~std::uint64_t{0}).empty());
  }
}

}  // namespace
}  // namespace kmt
