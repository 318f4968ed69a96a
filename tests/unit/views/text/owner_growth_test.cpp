// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "views/text/investigation.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(OwnerGrowthText, SeparatesMemoryOfOtherCounters) {
  InvestigationResult result;
  const auto add = [&result](OwnerKind kind, const char* name, OwnerPlace place) {
    OwnerGrowth& growth = result.owners.emplace_back();
    growth.owner.kind = kind;
    growth.owner.name = name;
    growth.owner.place = place;
    growth.after = 28 * kMiB;
  };
  add(OwnerKind::socket, "unix of sockq", OwnerPlace::partly_unaccounted);
  std::string text = text_investigation(result, {});
  EXPECT_EQ(text.find("that no counter contains, by owner"), std::string::npos) << text;
  EXPECT_NE(text.find("sockets: unix of sockq: +28.0 MiB, from 0 B to 28.0 MiB (partly unaccounted)"),
            std::string::npos)
      << text;
  add(OwnerKind::page_pool, "eth0", OwnerPlace::unaccounted);
  text = text_investigation(result, {});
  const std::size_t title = text.find("Growth of memory that no counter contains, by owner");
  const std::size_t pool = text.find("page pool: eth0: +28.0 MiB, from 0 B to 28.0 MiB\n");
  ASSERT_NE(pool, std::string::npos) << text;
  EXPECT_LT(title, pool);
  EXPECT_LT(pool, text.find("memory that other counters contain"));
}

}  // namespace
}  // namespace kmt
