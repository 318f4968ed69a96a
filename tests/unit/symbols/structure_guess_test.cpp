// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/structure_guess.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/made_types.hpp"
#include "symbols/btf_members.hpp"
#include "symbols/slab_layout.hpp"

namespace kmt {
namespace {

using Kind = MemberEvidence::Kind;

// struct widget_ops { int (*open)(struct widget *); };
// struct widget { struct list_head list; const struct widget_ops *ops; unsigned long id; };      32 bytes
// struct gadget { struct list_head list; void (*done)(unsigned long); unsigned long id; };       32 bytes
// struct other { unsigned long first; unsigned long numbers[3]; };                               32 bytes
// struct bits { unsigned int low:16, high:15, top:1; struct { unsigned long inner; }; };
// int open_widget(struct widget *w); void finish(unsigned long data);
std::vector<std::uint8_t> made_types() {
  test::MadeTypes types({kHostOrder, 8});
  btf* const btf = types.get();
  const int whole = types.integer("int", 4, BTF_INT_SIGNED);
  const int number = types.integer("unsigned int", 4);
  const int word = types.integer("long unsigned int", 8);
  const int to_list = types.pointer(static_cast<int>(btf__type_cnt(btf)) + 1);
  const int list = btf__add_struct(btf, "list_head", 16);
  btf__add_field(btf, "next", to_list, 0, 0);
  btf__add_field(btf, "prev", to_list, 64, 0);
  const int to_widget = types.pointer(static_cast<int>(btf__type_cnt(btf)) + 5);
  const int open = btf__add_func_proto(btf, whole);
  btf__add_func_param(btf, "", to_widget);
  const int to_open = types.pointer(open);
  const int ops = btf__add_struct(btf, "widget_ops", 8);
  btf__add_field(btf, "open", to_open, 0, 0);
  const int to_ops = types.pointer(ops);
  const int widget = btf__add_struct(btf, "widget", 32);
  btf__add_field(btf, "list", list, 0, 0);
  btf__add_field(btf, "ops", to_ops, 128, 0);
  btf__add_field(btf, "id", word, 192, 0);
  EXPECT_EQ(widget, btf__type_by_id(btf, static_cast<unsigned>(to_widget))->type);
  const int done = btf__add_func_proto(btf, 0);
  btf__add_func_param(btf, "", word);
  const int to_done = types.pointer(done);
  btf__add_struct(btf, "gadget", 32);
  btf__add_field(btf, "list", list, 0, 0);
  btf__add_field(btf, "done", to_done, 128, 0);
  btf__add_field(btf, "id", word, 192, 0);
  const int numbers = btf__add_array(btf, whole, word, 3);
  btf__add_struct(btf, "other", 32);
  btf__add_field(btf, "first", word, 0, 0);
  btf__add_field(btf, "numbers", numbers, 64, 0);
  const int inner = btf__add_struct(btf, "", 8);
  btf__add_field(btf, "inner", word, 0, 0);
  btf__add_struct(btf, "bits", 16);
  btf__add_field(btf, "low", number, 0, 16);
  btf__add_field(btf, "high", number, 16, 15);
  btf__add_field(btf, "top", number, 31, 1);
  btf__add_field(btf, "", inner, 64, 0);
  types.function("open_widget", whole, {{"w", to_widget}});
  types.function("finish", 0, {{"data", word}});
  return types.bytes();
}

MemberEvidence evidence(std::uint32_t offset, Kind kind, const std::string& symbol = {}) {
  MemberEvidence one;
  one.offset = offset;
  one.kind = kind;
  one.symbol = symbol;
  return one;
}

const GuessedCache kCache{"kmalloc-32", {}, 17, 32};

TEST(StructureGuesses, ComeFromPrototypesOfTables) {
  const Btf btf{Bytes(made_types())};
  MemberEvidence table = evidence(16, Kind::table, "my_ops");
  table.functions = {{0, "open_widget"}};
  const StructureGuess guess =
      guess_structure(btf, kCache, std::vector{evidence(0, Kind::list), table, evidence(24, Kind::number)});
  EXPECT_EQ(guess.name, "widget");
  EXPECT_GE(guess.confidence, Confidence::medium);
}

TEST(StructureGuesses, ComeFromPrototypesOfFunctions) {
  const Btf btf{Bytes(made_types())};
  const auto guess_for = [&btf](const char* function) {
    return guess_structure(btf, kCache, std::vector{evidence(0, Kind::list), evidence(16, Kind::function, function)})
        .name;
  };
  EXPECT_EQ(guess_for("finish"), "gadget");
  EXPECT_EQ(guess_for("open_widget"), "");
  EXPECT_EQ(guess_for("unknown_function"), "");  // nothing specific
}

TEST(StructureGuesses, NeedAFittingSizeAndEvidence) {
  const Btf btf{Bytes(made_types())};
  const std::vector members{evidence(16, Kind::function, "finish")};
  EXPECT_EQ(guess_structure(btf, {"kmalloc-8", {}, 1, 8}, members).name, "");
  EXPECT_EQ(guess_structure(btf, {"kmalloc-512", {}, 257, 512}, members).name, "");
  EXPECT_EQ(guess_structure(btf, kCache, {}).name, "");
}

TEST(StructureGuesses, ComeFromTheNameOfTheCache) {
  const Btf btf{Bytes(made_types())};
  const std::vector members{evidence(0, Kind::number), evidence(8, Kind::number)};
  EXPECT_EQ(guess_structure(btf, {"other_cache", {}, 25, 32}, members).name, "other");
  EXPECT_EQ(guess_structure(btf, {"first", {"other"}, 25, 32}, members).name, "other");
  EXPECT_TRUE(is_cache_of("filp", "file"));
  EXPECT_TRUE(is_cache_of("ext4_inode_cache", "ext4_inode_info"));
  EXPECT_FALSE(is_cache_of("dentry", "inode"));
}

TEST(BtfMembers, FindBitfieldsAndInnerMembers) {
  const Btf btf{Bytes(made_types())};
  const auto high = member_of(btf, "bits", "high");
  ASSERT_TRUE(high);
  EXPECT_EQ(high->offset, 0u);
  EXPECT_EQ(high->bit, 16u);
  EXPECT_EQ(high->bits, 15u);
  EXPECT_EQ(member_of(btf, "bits", "inner")->offset, 8u);
  EXPECT_EQ(member_of(btf, "other", "numbers")->type_size, 8u);
  EXPECT_FALSE(member_of(btf, "bits", "missing"));
  EXPECT_FALSE(member_of(btf, "missing", "inner"));
}

TEST(SlabSymbols, AreFoundInKallsyms) {
  const SlabAddresses found = slab_symbols(
      "ffffffff81000000 T _text\nffffffff82000000 D vmemmap_base\nffffffff83000000 D slab_caches\n"
      "ffffffff84000000 B _end\n"
      "ffffffffc0000000 d slab_caches\t[other]\n");
  EXPECT_EQ(found.slab_caches, 0xffff'ffff'8300'0000u);
  EXPECT_EQ(found.vmemmap, 0xffff'ffff'8200'0000u);
  EXPECT_EQ(found.page_offset, 0u);
  EXPECT_TRUE(found.is_in_image(0xffff'ffff'c000'0000u));
  EXPECT_FALSE(found.is_in_image(0xffff'ffff'8000'0000u));
  EXPECT_THROW(slab_symbols("0000000000000000 T _text\n0000000000000000 D slab_caches\n"), Error);
}

// On arm64, modules may be below the kernel. The symbols of BPF programs and of per-CPU variables do not count.
TEST(SlabSymbols, ShowTheModulesOfArm64) {
  const SlabAddresses found = slab_symbols(
      "ffff800008000000 T _text\nffff800009000000 D slab_caches\nffff80000a000000 B _end\n"
      "ffff800001200000 t first\t[one]\nffff800001000000 d second\t[one]\nffff800001300000 t third\t[two]\n"
      "ffff000000031000 d variable\t[two]\nffff800006000000 t bpf_prog\t[bpf]\n");
  EXPECT_EQ(found.modules_begin, 0xffff'8000'0100'0000u);
  EXPECT_EQ(found.modules_end, 0xffff'8000'0131'0000u);
  EXPECT_TRUE(found.is_in_image(0xffff'8000'0800'0000u));
  for (const std::uint64_t address : {0xffff'8000'0600'0000u, 0xffff'8000'0a00'0000u, 0xffff'8000'00ff'ffffu})
    EXPECT_FALSE(found.is_in_image(address)) << address;
}

}  // namespace
}  // namespace kmt
