// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/wrappers.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/error.hpp"

namespace kmt {
namespace {

class Names : public SymbolNames {
 public:
  explicit Names(std::map<std::uint64_t, std::string> names) : names_(std::move(names)) {}
  std::string name(std::uint64_t address) const override {
    ++asked;
    const auto found = names_.find(address);
    return found == names_.end() ? "0xffff" : found->second;
  }
  mutable unsigned asked = 0;

 private:
  std::map<std::uint64_t, std::string> names_;
};

TEST(Wrappers, AnAddressWithoutANameIsNoWrapper) {
  WrapperList all;
  all.add("*", "all.txt");
  EXPECT_TRUE(all.hides("f.part.0+0x1 [m]"));
  EXPECT_FALSE(all.hides("0xffffffff81000000"));
}

TEST(Wrappers, BuiltInListHasAllocatorsButNotTheirCallers) {
  const WrapperList list = WrapperList::built_in();
  for (const char* name : {"__kmalloc",
                           "__kmalloc_node_track_caller",
                           "__kmalloc_cache_noprof",
                           "kmalloc_trace",
                           "kmem_cache_alloc_lru",
                           "kmem_cache_alloc_node_noprof",
                           "kmemdup",
                           "kmemdup_nul",
                           "kstrdup_const",
                           "kvmalloc_node",
                           "__kvmalloc_node_noprof",
                           "krealloc_noprof",
                           "__do_kmalloc_node",
                           "alloc_pages_mpol",
                           "__get_free_pages",
                           "get_zeroed_page_noprof",
                           "folio_alloc_noprof",
                           "vmalloc_user",
                           "__vmalloc_node_range",
                           "mempool_alloc_slab",
                           "devm_kmalloc",
                           "devm_kasprintf",
                           "sk_prot_alloc",
                           "__alloc_skb",
                           "__netdev_alloc_skb",
                           "seq_open",
                           "return_to_handler",
                           "__kretprobe_trampoline",
                           "trace_event_raw_event_kmem_alloc",
                           "__traceiter_kmalloc",
                           "stack_trace_save",
                           "pcpu_alloc_noprof",
                           "kfree"})
    EXPECT_TRUE(list.hides(name)) << name;
  for (const char* name :
       {"getname_flags", "copy_process", "alloc_inode", "vm_area_alloc", "vm_area_dup", "__d_alloc", "alloc_empty_file",
        "kmalloc_size_roundup", "virtblk_probe", "tcp_sendmsg", "seq_read_iter", ""})
    EXPECT_FALSE(list.hides(name)) << name;
}

TEST(Wrappers, TheLastMatchingLineDecides) {
  WrapperList list;
  list.add("# ours\n\n  my_*   they only call kmalloc\n!my_own\n", "list");
  EXPECT_TRUE(list.hides("my_alloc.isra.0+0x1"));
  EXPECT_FALSE(list.hides("my_own"));
  EXPECT_FALSE(list.hides("other"));
  list.add("my_own", "second");
  EXPECT_TRUE(list.hides("my_own"));
  EXPECT_EQ(list.entries().front().why, "they only call kmalloc");
}

TEST(Wrappers, RefusesInvalidGlobs) {
  for (const char* text : {"!", "ok\n!!twice", "a+0x1 b", "dir/file"}) {
    WrapperList list;
    EXPECT_THROW(list.add(text, "list"), Error) << text;
  }
}

TEST(Wrappers, CallerIsTheFirstNonWrapper) {
  const Names names({{1, "__kmalloc+0x1"}, {2, "kmemdup+0x2"}, {3, "copy_mount+0x3"}, {4, "kfree+0x4"}});
  const WrapperList list = WrapperList::built_in();
  CallerFinder finder(names, list);
  const std::vector<std::uint64_t> stack = {1, 2, 3, 4};
  EXPECT_EQ(finder.caller(stack), 2u);
  EXPECT_EQ(names.asked, 3u);
  EXPECT_EQ(finder.caller(stack), 2u);
  EXPECT_EQ(names.asked, 3u);
  EXPECT_EQ(finder.caller(std::vector<std::uint64_t>{1, 2}), 2u);
  EXPECT_EQ(finder.caller(std::vector<std::uint64_t>{99, 1}), 0u);
  EXPECT_EQ(finder.caller({}), 0u);
}

TEST(SourceText, SkipsInlinedFunctionsOfHeaders) {
  const SourceFrame inner{"kzalloc", "include/linux/slab.h", 700, true};
  const SourceFrame middle{"make_node", "fs/node.c", 10};
  const SourceFrame outer{"nested", "fs/node.c", 20};
  EXPECT_EQ(source_text(std::vector{inner, middle, outer}), "fs/node.c:10, inlined make_node");
  EXPECT_EQ(source_text(std::vector{inner, outer}), "fs/node.c:20");
  EXPECT_EQ(source_text(std::vector{middle, outer}), "fs/node.c:10, inlined make_node");
  EXPECT_EQ(source_text(std::vector{inner}), "include/linux/slab.h:700");
  EXPECT_EQ(source_text({}), "");
  EXPECT_EQ(source_text(std::vector{SourceFrame{"f", "", 0}}), "");
  EXPECT_EQ(source_text(std::vector{SourceFrame{"f", "a.S", 0}}), "a.S");
}

}  // namespace
}  // namespace kmt
