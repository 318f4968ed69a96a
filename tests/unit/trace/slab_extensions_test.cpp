// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/state/slab_extensions.hpp"

#include <gtest/gtest.h>

#include "trace/state/slabinfo.hpp"

namespace kmt {
namespace {

using Bytes = std::map<std::string_view, std::uint64_t>;

const char* const kHeader =
    "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
    "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

SlabExtensions extensions_in(const std::string& lines) {
  static Slabinfo parsed;
  parsed = parse_slabinfo(kHeader + lines);
  return slab_extensions(parsed.caches, [](const std::string& cache) { return !cache.starts_with("kmalloc"); });
}

const std::string kKmalloc =
    "kmalloc-rcl-192 1 1 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n"
    "kmalloc-192 1 1 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n"
    "kmalloc-512 1 1 512 8 1 : tunables 0 0 0 : slabdata 1 1 0\n"
    "kmalloc-1k 1 1 1024 4 1 : tunables 0 0 0 : slabdata 1 1 0\n";

// On Linux 6.18, kmalloc-192 had 101499 objects: about one for each of the 100259 slabs of dentries.
TEST(SlabExtensions, AreInTheCacheOfTheirSize) {
  const SlabExtensions found =
      extensions_in(kKmalloc + "dentry 2103282 2105439 192 21 1 : tunables 0 0 0 : slabdata 100259 100259 0\n");
  EXPECT_EQ(found.by_cache, (Bytes{{"kmalloc-192", 100259 * 192}, {"kmalloc-512", 100259 * 512}}));
  EXPECT_EQ(found.least, 100259u * 192);
}

TEST(SlabExtensions, OfOneCacheAreCountedOnce) {
  const SlabExtensions found = extensions_in(kKmalloc + "a 1 1 192 1 1 : tunables 0 0 0 : slabdata 5 5 0\n");
  EXPECT_EQ(found.by_cache, (Bytes{{"kmalloc-192", 5 * 192}}));
}

TEST(SlabExtensions, NeedACacheAndAPossibleNumberOfObjects) {
  for (const char* const line :
       {"a 1 1 8 200 1 : tunables 0 0 0 : slabdata 5 5 0\n", "a 1 1 8 0 1 : tunables 0 0 0 : slabdata 5 5 0\n",
        "a 1 1 8 18446744073709551615 1 : tunables 0 0 0 : slabdata 5 5 0\n"}) {
    const SlabExtensions found = extensions_in(kKmalloc + line);
    EXPECT_TRUE(found.by_cache.empty()) << line;
    EXPECT_EQ(found.least, 0u) << line;
  }
  EXPECT_TRUE(extensions_in("dentry 21 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n").by_cache.empty());
}

}  // namespace
}  // namespace kmt
