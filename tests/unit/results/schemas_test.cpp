// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that the lists of names in schemas/ equal the tables of the program.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "results/columns.hpp"
#include "results/fleet/fleet.hpp"
#include "results/heap/profile.hpp"
#include "results/heap/top.hpp"
#include "results/report/check.hpp"
#include "results/report/diff.hpp"
#include "results/report/leaks.hpp"
#include "results/series/memory_series.hpp"
#include "results/snapshot/health.hpp"
#include "results/snapshot/page_census.hpp"
#include "results/snapshot/snapshot.hpp"
#include "trace/imperfections.hpp"

namespace kmt {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

Json schema(const std::string& name) {
  return Json::parse(read_file(std::string(KMEMTRACE_DOCS) + "/../schemas/" + name + "-1.json"));
}

// Returns the names that a list in a schema allows. `place` is a JSON pointer, such as "/$defs/allocator".
Names names_in(const std::string& name, const std::string& place) {
  return schema(name).at(Json::json_pointer(place + "/enum"));
}

template <typename Rows, typename Name>
Names names_of(const Rows& rows, Name&& name) {
  Names names;
  for (const auto& row : rows) names.emplace_back(std::invoke(name, row));
  return names;
}

TEST(SchemaFiles, NameTheKindsOfFindings) {
  EXPECT_EQ(names_in("common", "/$defs/imperfection"), names_of(kImperfections, &ImperfectionText::id));
  const Names affected(kAffectedNumberIds.begin(), kAffectedNumberIds.end() - 1);  // without "nothing"
  EXPECT_EQ(names_in("check", "/$defs/file/properties/affected/items"), affected);
}

TEST(SchemaFiles, NameTheGroupingKeys) {
  const Names keys = names_of(group_keys(), &GroupKeyInfo::name);
  EXPECT_EQ(names_in("common", "/$defs/group_key"), keys);
  for (const std::string& key : keys) {
    EXPECT_TRUE(schema("common").at("$defs").at("keys").at("properties").contains(key)) << key;
    EXPECT_TRUE(schema("diff").at("$defs").at("row").at("properties").at("keys").at("properties").contains(key)) << key;
  }
  EXPECT_EQ(names_in("fleet", "/$defs/by/items"), names_of(fleet_keys(), &FleetKeyInfo::name));
  EXPECT_EQ(names_in("profile", "/properties/by/items"), names_of(heap_keys(), &HeapKeyInfo::name));
}

TEST(SchemaFiles, NameTheColumns) {
  EXPECT_EQ(names_in("diff", "/$defs/column"), names_of(diff_columns(), &Column<GroupRow>::key));
  EXPECT_EQ(names_in("fleet", "/$defs/column"), names_of(fleet_diff_columns(), &Column<GroupRow>::key));
}

TEST(SchemaFiles, NameTheVerdictsOfLeaks) {
  Names verdicts = names_of(leak_verdicts(), &LeakVerdictText::id);
  std::ranges::reverse(verdicts);
  EXPECT_EQ(names_in("common", "/$defs/leak_verdict"), verdicts);
  Names reasons;
  for (std::size_t i = 0; i < kDoubts; ++i) reasons.emplace_back(describe(static_cast<Doubt>(i)).id);
  EXPECT_EQ(names_in("leaks", "/$defs/row/properties/uncertain/items/properties/reason"), reasons);
}

TEST(SchemaFiles, NameThePartsOfSnapshots) {
  EXPECT_EQ(names_in("common", "/$defs/health/items/properties/id"), names_of(health_limits(), &HealthLimits::id));
  Names kinds;
  for (std::size_t i = 0; i < kPageKinds; ++i) kinds.emplace_back(describe(static_cast<PageKind>(i)).id);
  EXPECT_EQ(names_in("snapshot", "/$defs/page_kind"), kinds);
  const Names parts = names_of(kSnapshotParts, [](SnapshotPart part) { return describe(part).id; });
  EXPECT_EQ(names_in("snapshot-diff", "/properties/not_compared/items"), parts);
}

TEST(SchemaFiles, NameTheViewsAndSources) {
  EXPECT_EQ(names_in("top", "/properties/view"), names_of(top_views(), &TopViewInfo::name));
  Names sources;
  for (int i = 0; i <= static_cast<int>(MemorySource::slab_sheaves); ++i)
    sources.emplace_back(id_of(static_cast<MemorySource>(i)));
  EXPECT_EQ(names_in("timeline", "/$defs/source"), sources);
}

}  // namespace
}  // namespace kmt
