// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that modules loaded one after the other at the same address are distinguished.
#include <gtest/gtest.h>

#include "symbols/kallsyms.hpp"
#include "trace/code/module_loads.hpp"

namespace kmt {
namespace {

constexpr const char* kChanges =
    "- 1000 900 old\n"
    "+ 2000 1900 brd c0481000 8192 -\n"
    "00000000c0481000 t brd_alloc\t[brd]\n"
    "00000000c0481800 t brd_free\t[brd]\n"
    "00000000c0490000 i .init.text\t[brd]\n"
    "- 3000 2900 brd\n"
    "+ 4000 3900 nbd c0481000 4096 0123\n"
    "00000000c0481000 t nbd_add\t[nbd]\n";
constexpr const char* kModules = "old 4096 0 - Live 0xc0481000\nother 4096 0 - Live 0xc0500000\n";

class Loads : public testing::Test {
 protected:
  std::string name(const ModuleLoads& loads, std::uint64_t address, std::uint64_t time_ns) const {
    const std::string text = "00000000c0481000 t old_code\t[old]\n00000000c0500000 t other_code\t[other]\n" +
                             std::string("00000000c0600000 t end\n") + loads.symbols();
    return Kallsyms(text).name(loads.address_at(address, time_ns));
  }
  std::vector<ModuleChange> changes_ = parse_module_changes(kChanges, {});
};

TEST_F(Loads, EachModuleHasItsNameWhileLoaded) {
  const ModuleEvents events = {
      {"old", {{950, false}}}, {"brd", {{1950, true}, {2950, false}}}, {"nbd", {{3950, true}}}};
  const ModuleLoads loads(changes_, kModules, events);
  EXPECT_EQ(name(loads, 0xc0481010, 500), "old_code+0x10 [old]");
  EXPECT_EQ(name(loads, 0xc0481010, 949), "old_code+0x10 [old]");
  EXPECT_EQ(name(loads, 0xc0481010, 960), "unknown+0x10 [removed]");
  EXPECT_EQ(name(loads, 0xc0481010, 1950), "brd_alloc+0x10 [brd]");
  EXPECT_EQ(name(loads, 0xc0481804, 2949), "brd_free+0x4 [brd]");
  EXPECT_EQ(name(loads, 0xc0481010, 2960), "unknown+0x10 [removed]");
  EXPECT_EQ(name(loads, 0xc0481010, 3950), "nbd_add+0x10 [nbd]");
  EXPECT_EQ(name(loads, 0xc0500004, 3950), "other_code+0x4 [other]");
  EXPECT_EQ(name(loads, 0xc0490020, 1990), ".init.text+0x20 [brd]");
}

TEST_F(Loads, WithoutEventsTheTimesAreThoseOfReading) {
  const ModuleLoads loads(changes_, kModules, {});
  EXPECT_EQ(name(loads, 0xc0481010, 999), "old_code+0x10 [old]");
  EXPECT_EQ(name(loads, 0xc0481010, 1900), "brd_alloc+0x10 [brd]");
  EXPECT_EQ(name(loads, 0xc0481010, 9000), "nbd_add+0x10 [nbd]");
}

TEST_F(Loads, StandInAddressesAreTranslatedBack) {
  const ModuleLoads loads(changes_, kModules, {});
  for (const std::uint64_t time : {500u, 1500u, 2500u, 3500u, 9000u})
    EXPECT_EQ(loads.real_address(loads.address_at(0xc0481010, time)), 0xc0481010u) << time;
  EXPECT_NE(loads.address_at(0xc0481010, 2500), loads.address_at(0xc0481010, 9000));
  EXPECT_EQ(loads.address_at(0xc0500004, 2500), 0xc0500004u);
  EXPECT_EQ(loads.epoch(2500), loads.epoch(2600));
  EXPECT_NE(loads.epoch(2500), loads.epoch(9000));
}

TEST(LoadsOfOneBuild, ShareTheFirstAddresses) {
  const auto changes = parse_module_changes(
      "+ 1000 900 brd c0481000 8192 0123\n00000000c0481000 t brd_alloc\t[brd]\n- 2000 1900 brd\n"
      "+ 3000 2900 brd c0500000 8192 0123\n00000000c0500000 t brd_alloc\t[brd]\n- 4000 3900 brd\n"
      "+ 5000 4900 brd c0481000 8192 4567\n00000000c0481000 t brd_other\t[brd]\n",
      {});
  const ModuleLoads loads(changes, "", {});
  const std::uint64_t first = loads.address_at(0xc0481010, 1500);
  const std::uint64_t again = loads.address_at(0xc0500010, 3500);
  const std::uint64_t other = loads.address_at(0xc0481010, 5500);
  EXPECT_NE(first, again);
  EXPECT_EQ(loads.first_address(first), first);
  EXPECT_EQ(loads.first_address(again), first);
  EXPECT_EQ(loads.first_address(other), other) << "another build";
  EXPECT_EQ(loads.first_address(loads.address_at(0xc0500014, 3500)), first + 4);
  EXPECT_EQ(loads.first_address(0xffffffff81000010), 0xffffffff81000010);
  EXPECT_EQ(loads.real_address(again), 0xc0500010u) << "the real address is unchanged";
}

// Two loads count as different modules unless their builds are known to be equal.
TEST_F(Loads, UnchangedModulesAndUnknownBuildsAreNotNewModules) {
  auto changes = parse_module_changes(std::string(kChanges) + "- 5000 4900 nbd\n+ 6000 5900 brd c0481000 8192 -\n", {});
  const ModuleLoads loads(changes, kModules, {});
  for (const std::uint64_t time : {1500u, 1950u, 3500u, 4500u, 5500u, 6500u}) {
    const std::uint64_t address = loads.address_at(0xc0481010, time);
    EXPECT_EQ(loads.first_address(address), address) << time;
  }
}

TEST_F(Loads, AnUnnoticedModuleDoesNotGetAnotherName) {
  // brd was loaded and removed without being noticed by the recorder, before nbd was loaded.
  const ModuleLoads loads(changes_, kModules, {{"brd", {{1950, true}, {2100, false}}}});
  EXPECT_EQ(name(loads, 0xc0481010, 2050), "brd_alloc+0x10 [brd]");
  EXPECT_EQ(name(loads, 0xc0481010, 2500), "unknown+0x10 [removed]");
}

TEST_F(Loads, InvalidLinesAreSkipped) {
  EXPECT_TRUE(parse_module_changes("+\n+ x y z\n+ 1 2 brd ffffffffffffffff 99999999999 -\n- 1\n\nabc", {}).empty());
  std::string many;
  for (unsigned i = 0; i < 20'000; ++i) many += "- 1 1 x\n";
  EXPECT_EQ(parse_module_changes(many, {}).size(), 4096u);
  EXPECT_TRUE(ModuleLoads({}, kModules, {}).empty());
  EXPECT_EQ(ModuleLoads({}, kModules, {}).address_at(0xc0481010, 5), 0xc0481010u);
}

}  // namespace
}  // namespace kmt
