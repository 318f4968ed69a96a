// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as a ring-buffer page of either byte order and word size. Records must be inside the page.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trace/ring_page.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const kmt::Bytes page(data + 1, size - 1);
  const kmt::PageLayout layout{(data[0] & 1) != 0 ? kmt::ByteOrder::big : kmt::ByteOrder::little,
                               (data[0] & 2) != 0 ? 4u : 8u, page.size()};
  std::uint64_t end = 0;
  const kmt::PageEnd result = kmt::walk_page(page, layout, [&](std::uint64_t, kmt::Bytes record, std::uint64_t offset) {
    const bool inside = offset <= page.size() && record.size() <= page.size() - offset;
    if (!inside || offset < end || record.data() != page.data() + offset) std::abort();
    end = offset + record.size();
  });
  if (result.damage_offset > page.size()) std::abort();
  return 0;
}
