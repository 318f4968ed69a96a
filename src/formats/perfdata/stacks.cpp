// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/stacks.hpp"

#include <algorithm>

#include "base/arithmetic/size.hpp"
#include "formats/perfdata/layout.hpp"
#include "formats/perfdata/record_cursor.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::size_t kMostDepth = 256;

// Appends the addresses after a mark. Returns the cookie of a deferred stack, or 0 if the chain has none.
std::uint64_t add_addresses(std::uint64_t mark, Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses) {
  const std::size_t most = addresses.size() + kMostDepth;
  bool inside = false;
  for (std::size_t at = 0; at + 8 <= chain.size() && addresses.size() < most; at += 8) {
    const auto address = load<std::uint64_t>(chain.data() + at, order);
    if (address == kDeferredMark && at + 16 <= chain.size()) return load<std::uint64_t>(chain.data() + at + 8, order);
    if (address >= kFirstMark)
      inside = address == mark;
    else if (inside)
      addresses.push_back(address);
  }
  return 0;
}

}  // namespace

DeferredStacks::DeferredStacks(Bytes file, const FileContents& contents) {
  if (std::ranges::none_of(contents.attributes.all(), &Attribute::defers_stacks)) return;
  Findings ignored;
  RecordCursor cursor(file, contents.data_begin, contents.data_end, contents.order(), true, ignored);
  Record record;
  while (cursor.next(record)) {
    constexpr std::size_t kFixedBytes = 16;  // cookie and number of addresses
    if (record.type != kCallchainDeferred || record.payload.size() < kFixedBytes) continue;
    const auto cookie = load<std::uint64_t>(record.payload.data(), contents.order());
    const auto count = load<std::uint64_t>(record.payload.data() + 8, contents.order());
    if (count > (record.payload.size() - kFixedBytes) / 8 || addresses_.size() + kMostDepth > ~std::uint32_t{0})
      continue;
    const auto [place, is_new] = places_.insert(cookie);
    if (!is_new) continue;  // a duplicate: each event of perf that wants these stacks writes a record
    const std::size_t begin = addresses_.size();
    add_addresses(kUserMark, record.payload.subspan(kFixedBytes, to_size(8 * count)), contents.order(), addresses_);
    *place = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(addresses_.size() - begin)};
  }
}

std::optional<std::span<const std::uint64_t>> DeferredStacks::of(std::uint64_t cookie) const {
  const Place* const place = places_.find(cookie);
  if (place == nullptr) return {};
  return std::span(addresses_).subspan(place->begin, place->count);
}

void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses) {
  addresses.clear();
  add_addresses(kKernelMark, chain, order, addresses);
}

bool user_stack(const Sample& sample, const DeferredStacks& deferred, ByteOrder order,
                std::vector<std::uint64_t>& addresses) {
  addresses.clear();
  const std::uint64_t cookie = add_addresses(kUserMark, sample.chain, order, addresses);
  if (cookie != 0) {
    const auto later = deferred.of(cookie);
    if (later) addresses.assign(later->begin(), later->end());
    return later.has_value();
  }
  if (addresses.empty() && sample.user_ip != 0) addresses.assign(1, sample.user_ip);
  return true;
}

}  // namespace kmt::perfdata
