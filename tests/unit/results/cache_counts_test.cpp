// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/cache_counts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/documented_keys.hpp"
#include "trace/state/slabinfo.hpp"
#include "views/json/cache_counts.hpp"
#include "views/text/heap/cache_counts.hpp"

namespace kmt {
namespace {

CacheCounts counted(std::vector<CacheCount> rows, std::uint64_t uncounted = 0) {
  return {CacheCounting::counted, std::move(rows), {uncounted, {}, {}, 0}};
}

TEST(CacheCounts, DifferenceHasOnlyTheEventsOfTheInterval) {
  const CacheCounts from = counted({{"dentry", 192, 10, 4, {}}, {"filp", 192, 5, 5, {}}}, 1);
  const CacheCounts to = counted({{"dentry", 192, 12, 9, {}}, {"filp", 192, 5, 5, {}}, {"pid", 128, 40, 0, {}}}, 3);
  const CacheCounts result = difference(from, to);
  EXPECT_EQ(result.counting, CacheCounting::counted);
  EXPECT_EQ(result.uncounted.objects, 2u);
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].name, "pid");  // the largest change of bytes
  EXPECT_EQ(result.rows[0].net_bytes(), 5120);
  EXPECT_EQ(result.rows[1].net_objects(), -3);
  EXPECT_EQ(result.rows[1].net_bytes(), -576);
}

TEST(CacheCounts, CachesWithOneNameAreNotMixed) {
  const CacheCounts from = counted({{"twin", 64, 1, 0, {}}, {"twin", 128, 100, 0, {}}});
  const CacheCounts to = counted({{"twin", 64, 3, 0, {}}, {"twin", 128, 100, 50, {}}});
  const CacheCounts result = difference(from, to);
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].net_bytes(), -6400);
  EXPECT_EQ(result.rows[1].net_bytes(), 128);
}

TEST(CacheCounts, SlabinfoIsComparedByNameAndSize) {
  const std::string header =
      "slabinfo - version: 2.1\n"
      "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
      "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";
  const auto line = [](const char* name, int active, int bytes) {
    return fmt::format("{} {} 1000 {} 32 1 : tunables 0 0 0 : slabdata 10 10 0\n", name, active, bytes);
  };
  const std::string from = header + line("filp", 500, 192) + line("twin", 70, 64) + line("twin", 80, 128);
  const std::string to = header + line("filp", 510, 192) + line("twin", 60, 64) + line("twin", 81, 128);
  CacheCounts counts =
      counted({{"filp", 192, 9, 1, {}}, {"twin", 128, 1, 0, {}}, {"twin", 64, 0, 9, {}}, {"new", 8, 1, 0, {}}});
  compare_with_slabinfo(counts, parse_slabinfo(from).caches, parse_slabinfo(to).caches);
  EXPECT_EQ(counts.rows[0].slabinfo_objects, 10);
  EXPECT_EQ(counts.rows[1].slabinfo_objects, 1);
  EXPECT_EQ(counts.rows[2].slabinfo_objects, -10);
  EXPECT_FALSE(counts.rows[3].slabinfo_objects);
  compare_with_slabinfo(counts = counted({{"filp", 192, 9, 1, {}}}), {}, {});
  EXPECT_FALSE(counts.rows[0].slabinfo_objects);
}

TEST(CacheCounts, TextShowsAllOfTheTable) {
  TextStyle style;
  style.raw = true;
  EXPECT_EQ(cache_counts_text(counted({}), style), "");
  const std::string text = cache_counts_text(counted({{"filp", 192, 9, 1, 7}, {"pid", 128, 1, 1, {}}}, 5), style);
  for (const char* const part : {"2 of 2", "+1536 B", "+8", "+7", "+0 B", "5 objects not counted"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  EXPECT_EQ(cache_counts_text(counted({{"pid", 128, 1, 1, {}}}), style).find("Slabinfo"), std::string::npos);
}

TEST(CacheCounts, FunctionsWithoutProgramAreNamedWithTheReason) {
  CacheCounts counts = counted({{"filp", 192, 9, 1, 7}});
  counts.uncounted = {0, {"kfree_nolock", "__kfree_rcu_sheaf"}, "--no-probes", 0};
  const std::vector<std::string> notes = uncounted_notes(difference({}, counts).uncounted, {});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("kfree_nolock(), __kfree_rcu_sheaf() are not counted (--no-probes)."), std::string::npos);
  EXPECT_NE(cache_counts_text(counts, {}).find("Net may be wrong"), std::string::npos);
  Json json = Json::object();
  add_caches(json, difference({}, counts));
  EXPECT_EQ(json["uncounted_functions"], Json({"kfree_nolock", "__kfree_rcu_sheaf"}));
  EXPECT_EQ(json["uncounted_reason"], "--no-probes");
}

TEST(CacheCounts, MissedCallsAreThoseOfTheInterval) {
  CacheCounts from = counted({}), to = counted({{"filp", 192, 9, 1, 7}});
  from.uncounted.missed_calls = 4;
  to.uncounted.missed_calls = 6;
  const CacheCounts result = difference(from, to);
  EXPECT_EQ(result.uncounted.missed_calls, 2u);
  EXPECT_NE(cache_counts_text(result, {}).find("(2 missed)"), std::string::npos);
  EXPECT_EQ(cache_counts_text(difference(from, from), {}), "");
}

TEST(CacheCounts, KeysAreDocumented) {
  const test::DocumentedKeys keys("stat-json.md");
  Json json = Json::object();
  add_caches(json, counted({{"filp", 192, 9, 1, 7}}));
  EXPECT_EQ(keys(json), "caches uncounted_objects uncounted_functions uncounted_calls uncounted_reason ");
  EXPECT_EQ(keys(json["caches"][0]), "name object_bytes allocations frees net_objects net_bytes slabinfo_objects ");
  CacheCounts old_kernel;
  old_kernel.counting = CacheCounting::unsupported;
  add_caches(json, old_kernel);
  EXPECT_TRUE(json["caches"].is_null());
}

}  // namespace
}  // namespace kmt
