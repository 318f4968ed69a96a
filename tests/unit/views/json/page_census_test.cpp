// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/page_census.hpp"

#include <gtest/gtest.h>

#include "support/documented_keys.hpp"

namespace kmt {
namespace {

TEST(JsonPageCensus, HasTheDocumentedKeysInTheirOrder) {
  PageCensus census;
  census.pages[index_of(PageKind::slab)] = 6;
  census.blocks[index_of(PageKind::slab)][0] = 2;
  census.blocks[index_of(PageKind::slab)][2] = 1;
  census.comparisons.push_back({PageKind::slab, 24576, std::nullopt, "Slab"});
  census.other_parts.push_back({"vmalloc", 5});
  census.other_flags.push_back({1 << 11, 3});
  census.cgroups.push_back({"", 0, {}});
  census.cgroups.push_back({"/a\n", 5, census.pages});
  census.zones.push_back({0, "DMA", 0.5, std::nullopt});
  const Json json = json_page_census(census, 4096, {});
  const test::DocumentedKeys keys("snapshot-json.md");
  EXPECT_EQ(keys(json),
            "frames elapsed_ns in_total_bytes kinds counters other cgroups_total cgroups pageblocks fragmentation "
            "notes ");
  EXPECT_EQ(json["kinds"].size(), kPageKinds);
  for (const Json& one : json["kinds"]) keys.expect(one["kind"].get<std::string>());
  const Json& slab = json["kinds"][index_of(PageKind::slab)];
  EXPECT_EQ(keys(slab), "kind pages bytes blocks_by_order ");
  EXPECT_EQ(slab["bytes"], 24576);
  EXPECT_EQ(slab["blocks_by_order"], Json::array({2, 0, 1}));
  EXPECT_EQ(keys(json["counters"][0]), "kind bytes counter_bytes source ");
  EXPECT_TRUE(json["counters"][0]["counter_bytes"].is_null());
  EXPECT_EQ(keys(json["other"]), "counters flags_total flags ");
  EXPECT_EQ(keys(json["other"]["counters"][0]), "label bytes ");
  EXPECT_EQ(json["other"]["flags"][0], Json({{"flags", "mmap"}, {"pages", 3}}));
  EXPECT_EQ(keys(json["cgroups"][0]), "path inode pages ");
  EXPECT_TRUE(json["cgroups"][0]["inode"].is_null());
  EXPECT_EQ(json["cgroups"][1]["path"], "/a\\x0a");
  EXPECT_EQ(json["cgroups"][1]["pages"], Json({{"slab", 6}}));
  EXPECT_EQ(keys(json["pageblocks"]),
            "order order_is_known blocks free movable unmovable mixed uncertain pages_in_mixed "
            "mixed_by_unmovable_pages reserved caches_in_mixed pagetypeinfo ");
  EXPECT_EQ(keys(json["pageblocks"]["caches_in_mixed"]), "source failure blocks unknown_pages rows_total rows ");
  EXPECT_EQ(keys(json["fragmentation"][0]), "node zone unusable index ");
}

}  // namespace
}  // namespace kmt
