// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/stacks.hpp"

#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

void addresses_after(std::uint64_t mark, Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses) {
  constexpr std::size_t kMostDepth = 256;
  addresses.clear();
  bool inside = false;
  for (std::size_t at = 0; at + 8 <= chain.size() && addresses.size() < kMostDepth; at += 8) {
    const auto address = load<std::uint64_t>(chain.data() + at, order);
    if (address >= kFirstMark)
      inside = address == mark;
    else if (inside)
      addresses.push_back(address);
  }
}

}  // namespace

void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses) {
  addresses_after(kKernelMark, chain, order, addresses);
}

void user_stack(const Sample& sample, ByteOrder order, std::vector<std::uint64_t>& addresses) {
  addresses_after(kUserMark, sample.chain, order, addresses);
  if (addresses.empty() && sample.user_ip != 0) addresses.assign(1, sample.user_ip);
}

}  // namespace kmt::perfdata
