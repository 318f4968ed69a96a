// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/object_kinds.hpp"

#include <gtest/gtest.h>

#include "support/documented_keys.hpp"
#include "views/common/object_words.hpp"
#include "views/json/objects.hpp"
#include "views/text/snapshot/objects.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kOps = 0xffff'ffff'c000'1000;       // a table of functions in a module
constexpr std::uint64_t kFunction = 0xffff'ffff'8100'0000;  // a function of the kernel
constexpr std::uint64_t kHead = 0xffff'ffff'c000'2000;      // the head of a list in a module
constexpr std::uint64_t kNet = 0xffff'ffff'8200'0000;       // data that many objects point to

ImageSymbols symbols() {
  ImageSymbols found;
  found[kOps] = {"session_ops", "leaky", 0, false, {{0, "start"}, {8, "stop"}}};
  found[kFunction] = {"do_timer", "", 0, true, {}};
  found[kHead] = {"requests", "leaky", 0, false, {}};
  found[kNet] = {"init_net", "", 0, false, {}};
  return found;
}

ObjectWord symbol(std::uint64_t address) { return {address, WordContent::symbol}; }
ObjectWord list(std::uint64_t next = 0xffff'8880'0000'0000) {
  ObjectWord word{next, WordContent::address};
  word.is_list = true;
  return word;
}
const ObjectWord kNumber{0, WordContent::number};
const ObjectWord kZero{};
const ObjectWord kText{0, WordContent::text};

class ObjectKinds : public ::testing::Test {
 protected:
  ObjectKinds() {
    sample.name = "kmalloc-192";
    sample.object_size = sample.slot_size = 192;
  }
  void add(std::size_t count, const std::vector<ObjectWord>& words, double weight = 1) {
    for (std::size_t i = 0; i < count; ++i)
      sample.objects.push_back({0xffff'8880'0001'0000 + sample.objects.size() * 192, weight, words});
    sample.live = sample.slots = sample.objects.size();
  }
  CacheKinds kinds() const { return finish_kinds(sample, group_objects(sample, symbols())); }

  CacheSample sample;
};

TEST_F(ObjectKinds, AreNamedByTablesAndFunctions) {
  add(60, {list(), kNumber, symbol(kOps), symbol(kNet)});
  add(30, {kNumber, symbol(kFunction), kZero});
  add(10, {kText, kNumber});
  sample.all_slots = 1000;
  const CacheKinds found = kinds();
  ASSERT_EQ(found.kinds.size(), 3u);
  EXPECT_EQ(found.objects, 1000u);
  EXPECT_EQ(name_of(found.kinds[0]), "session_ops");
  EXPECT_EQ(found.kinds[0].module, "leaky");
  EXPECT_EQ(found.kinds[0].objects, 600u);
  EXPECT_EQ(found.kinds[0].bytes, 600u * 192);
  EXPECT_EQ(found.kinds[0].addresses.size(), 2u);
  EXPECT_EQ(name_of(found.kinds[1]), "do_timer");
  EXPECT_EQ(found.kinds[1].module, "vmlinux");
  EXPECT_EQ(name_of(found.kinds[2]), "text at 0");
  EXPECT_EQ(found.kinds[2].module, "");
}

TEST_F(ObjectKinds, CountTheWeightOfTheSample) {
  add(10, {symbol(kOps)}, 9);
  add(10, {symbol(kFunction)}, 1);
  const CacheKinds found = kinds();
  ASSERT_EQ(found.kinds.size(), 2u);
  EXPECT_DOUBLE_EQ(found.kinds[0].share, 0.9);
  EXPECT_EQ(found.objects, 100u);
}

TEST_F(ObjectKinds, HaveTheOffsetsOfTheirOwnLists) {
  sample.caches = {{"kmalloc-192", 192}};
  ObjectWord next = list();
  next.kind = WordContent::object;
  add(99, {next, kZero, symbol(kNet)});
  add(1, {list(kHead), kZero, symbol(kNet)});
  sample.objects.back().words[0].kind = WordContent::symbol;
  const auto groups = group_objects(sample, symbols());
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].chains, std::vector<std::uint32_t>{0});
  EXPECT_EQ(groups[0].kind.module, "") << "one object does not show whose list it is";
  SlabKind kind = groups[0].kind;
  set_module(kind, symbols().at(kHead), ModuleSource::list);
  EXPECT_EQ(kind.module, "leaky");
  EXPECT_EQ(name_of(kind), "in list requests");
  set_module(kind, symbols().at(kOps), ModuleSource::neighbour);
  EXPECT_EQ(name_of(kind), "points to object with session_ops");
}

TEST_F(ObjectKinds, DoNotTakeTheModuleFromListsOfOtherObjects) {
  add(99, {list(), symbol(kNet)});
  add(1, {list(kHead), symbol(kNet)});
  sample.objects.back().words[0].kind = WordContent::symbol;
  const CacheKinds found = kinds();
  ASSERT_EQ(found.kinds.size(), 1u);
  EXPECT_EQ(found.kinds[0].module, "");
}

TEST_F(ObjectKinds, DoNotTakeTheModuleFromDataThatAllUse) {
  add(50, {list(), symbol(kNet)});
  const CacheKinds found = kinds();
  ASSERT_EQ(found.kinds.size(), 1u);
  EXPECT_EQ(found.kinds[0].module, "");
}

TEST_F(ObjectKinds, AreOneIfAnOptionalPointerIsMissing) {
  add(50, {symbol(kOps), symbol(kFunction)});
  add(40, {symbol(kOps), kZero});
  const CacheKinds found = kinds();
  ASSERT_EQ(found.kinds.size(), 1u);
  EXPECT_EQ(found.kinds[0].sampled, 90u);
}

TEST_F(ObjectKinds, AreSeparateIfTheirPointersContradict) {
  sample.caches = {{"dentry", 192}, {"inode_cache", 600}};
  ObjectWord dentry{0xffff'8880'0000'0000, WordContent::object};
  ObjectWord inode = dentry;
  inode.cache = 1;
  add(50, {dentry, list()});
  add(40, {inode, list()});
  add(5, {dentry, kZero});
  const CacheKinds found = kinds();
  ASSERT_EQ(found.kinds.size(), 2u);
  EXPECT_EQ(found.kinds[0].sampled, 55u);
  EXPECT_EQ(name_of(found.kinds[0]), "object of dentry at 0, list at 8");
}

TEST_F(ObjectKinds, AreEmptyWithoutObjects) {
  const CacheKinds found = kinds();
  EXPECT_TRUE(found.kinds.empty());
  EXPECT_EQ(found.objects, 0u);
  sample.searched = 0.5;
  EXPECT_EQ(kinds().objects, std::nullopt) << "the other half of memory may have objects";
  sample.searched = 1;
  sample.slabs_found = 1;
  EXPECT_EQ(kinds().objects, std::nullopt) << "the slab was not read";
}

TEST_F(ObjectKinds, AreScaledToAllMemoryWithoutSlabinfo) {
  add(50, {symbol(kOps), kText});
  sample.all_slots.reset();
  sample.searched = 0.25;
  EXPECT_EQ(kinds().objects, 200u);
}

TEST_F(ObjectKinds, AreShownWithCommands) {
  add(50, {symbol(kOps), kText});
  ObjectsReport report{4000, 1 << 20, 5000, 1000, ReadingEnd::complete, {kinds()}};
  const std::string text = text_objects(report, {}, {});
  EXPECT_NE(text.find("session_ops"), std::string::npos);
  EXPECT_NE(text.find("leaky"), std::string::npos);
  EXPECT_NE(text.find("crash  rd -s ffff888000010000 24"), std::string::npos);
  report.caches[0].kinds[0].structure = {"session", Confidence::high};
  EXPECT_NE(text_objects(report, {}, {}).find("Object(prog, \"struct session *\", 0xffff888000010000)[0]"),
            std::string::npos);
}

TEST_F(ObjectKinds, HaveNotesAboutTheLimitsOfTheSample) {
  add(50, {symbol(kOps), kText});
  sample.all_slots = 50;
  sample.slabs_read = 3;
  EXPECT_TRUE(notes_of(kinds(), ReadingEnd::complete).empty());
  sample.slabs_changed = 1;
  sample.slabs_unreadable = 2;
  sample.slabs_damaged = 4;
  sample.searched = 0.25;
  sample.all_slots.reset();
  const std::vector<std::string> notes = notes_of(kinds(), ReadingEnd::most_bytes);
  ASSERT_EQ(notes.size(), 6u);
  EXPECT_TRUE(notes[0].starts_with("The limit of --most-bytes")) << notes[0];
  EXPECT_EQ(notes[1], "The search covered 25% of the page frames, in random order.");
  EXPECT_TRUE(notes[2].starts_with("Without /proc/slabinfo")) << notes[2];
  EXPECT_EQ(notes[3], "1 of 10 slabs changed while they were read.");
  EXPECT_EQ(notes[4], "2 of 10 slabs could not be read.");
  EXPECT_TRUE(notes[5].starts_with("In 4 of 10 slabs")) << notes[5];
  EXPECT_TRUE(notes_of(kinds(), ReadingEnd::stopped)[0].starts_with("The reading stopped"));
}

TEST_F(ObjectKinds, HaveTheDocumentedKeys) {
  add(50, {symbol(kOps), kText});
  const auto json =
      nlohmann::ordered_json::parse(json_objects({4000, 1 << 20, 5000, 1000, ReadingEnd::complete, {kinds()}}, {}));
  const test::DocumentedKeys keys("objects-json.md");
  EXPECT_EQ(keys(json), "schema most_objects most_bytes bytes_read elapsed_ns caches ");
  const auto& cache = json["caches"][0];
  EXPECT_EQ(keys(cache),
            "cache aliases object_bytes slot_bytes objects bytes sampled slabs_found slabs_read slabs_changed "
            "slabs_unreadable slabs_damaged kinds_total kinds notes ");
  const auto& kind = cache["kinds"][0];
  EXPECT_EQ(keys(kind),
            "kind share objects bytes sampled module module_from structure structure_confidence members examples ");
  EXPECT_TRUE(kind["structure"].is_null());
  EXPECT_EQ(keys(kind["members"][0]), "offset points_to share ");
  EXPECT_EQ(keys(kind["examples"][0]), "address drgn crash ");
}

}  // namespace
}  // namespace kmt
