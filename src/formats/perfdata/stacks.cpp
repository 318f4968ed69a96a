// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/stacks.hpp"

#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses) {
  constexpr std::size_t kMostDepth = 256;
  addresses.clear();
  bool in_kernel = false;
  for (std::size_t at = 0; at + 8 <= chain.size() && addresses.size() < kMostDepth; at += 8) {
    const auto address = load<std::uint64_t>(chain.data() + at, order);
    if (address >= kFirstMark)
      in_kernel = address == kKernelMark;
    else if (in_kernel)
      addresses.push_back(address);
  }
}

}  // namespace kmt::perfdata
