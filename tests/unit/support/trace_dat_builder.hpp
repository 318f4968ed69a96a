// SPDX-License-Identifier: GPL-2.0-or-later
// Builds trace.dat files of version 6 and 7 by hand, for any byte order and word size. Written from trace-cmd.dat.v6(5)
// and trace-cmd.dat.v7(5), independently of the reader and of the writer under test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/page_builder.hpp"

namespace kmt::test {

using Page = std::vector<std::uint8_t>;

// Descriptions of the slab and page events, as a kernel of this machine writes them.
std::vector<std::pair<std::string, std::string>> kmem_formats(Machine machine);  // system, text
constexpr std::uint16_t kKmallocId = 11, kKfreeId = 12, kCacheFreeId = 13, kPageAllocId = 14, kPageFreeId = 15;

// Contents of records of these events.
Page kmalloc_record(Machine machine, std::uint64_t call_site, std::uint64_t ptr, std::uint64_t requested,
                    std::uint64_t allocated, std::int32_t pid = 7, std::uint8_t flags = 0);
Page kfree_record(Machine machine, std::uint64_t call_site, std::uint64_t ptr, std::int32_t pid = 7);
Page cache_free_record(Machine machine, std::uint64_t call_site, std::uint64_t ptr, const std::string& name);
Page page_alloc_record(Machine machine, std::uint64_t pfn, std::uint32_t order);
Page page_free_record(Machine machine, std::uint64_t pfn, std::uint32_t order);

struct TraceDat {
  Machine machine;
  std::uint32_t page_size = 4096;
  std::vector<std::pair<std::string, std::string>> formats;  // system, text
  // BTF of the section that only version 7 has. If empty, the file has no such section.
  std::vector<std::uint8_t> btf;
  std::string kallsyms = "ffffffff81000000 T first_function\n";
  std::vector<std::pair<std::uint16_t, std::string>> options;                     // pairs of an ID and a raw value
  std::vector<std::vector<Page>> cpus;                                            // pages of the top-level buffer
  std::vector<std::pair<std::string, std::vector<std::vector<Page>>>> instances;  // name, CPUs

  std::vector<std::uint8_t> version_6() const;
  std::vector<std::uint8_t> version_7() const;  // uncompressed
};

}  // namespace kmt::test
