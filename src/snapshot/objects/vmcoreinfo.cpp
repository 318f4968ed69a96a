// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/vmcoreinfo.hpp"

#include "base/number.hpp"
#include "base/words.hpp"

namespace kmt {

// The kernel maps physical address PHYS_OFFSET at PAGE_OFFSET, which is -2^VA_BITS. The struct page of
// this address is at VMEMMAP_START. PHYS_OFFSET is negative if the kernel supports virtual addresses of 52 bits, but
// the processor only 48.
std::optional<DirectMap> arm64_direct_map(std::string_view vmcoreinfo, std::uint64_t page_size,
                                          std::uint64_t page_bytes) {
  constexpr std::uint64_t kLeastBits = 36, kMostBits = 52;
  std::optional<std::uint64_t> bits, physical, vmemmap;
  each_line(vmcoreinfo, [&](std::string_view line) {
    const auto take = [line](std::string_view name, int base, std::optional<std::uint64_t>& value) {
      if (line.starts_with(name)) value = parse_leading<std::uint64_t>(line.substr(name.size()), base);
    };
    take("NUMBER(VA_BITS)=", 10, bits);
    take("NUMBER(PHYS_OFFSET)=0x", 16, physical);
    take("NUMBER(VMEMMAP_START)=0x", 16, vmemmap);
  });
  if (!bits || *bits < kLeastBits || *bits > kMostBits || !physical || !vmemmap || page_size == 0) return std::nullopt;
  const auto first_frame =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(*physical) / static_cast<std::int64_t>(page_size));
  return DirectMap{-(std::uint64_t{1} << *bits) - *physical, *vmemmap - first_frame * page_bytes};
}

}  // namespace kmt
