// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/stack_ids.hpp"

#include <algorithm>
#include <string_view>

#include "base/hash.hpp"

namespace kmt {

StackId StackIds::id_of(std::span<const std::uint64_t> addresses) {
  if (addresses.empty()) return {};
  const std::string_view bytes(reinterpret_cast<const char*>(addresses.data()), addresses.size_bytes());
  for (std::uint64_t key = hash_of(bytes);; ++key) {
    const auto [id, inserted] = ids_.insert(key);
    if (inserted) *id = stacks_.add(addresses).value;
    if (inserted || std::ranges::equal(stacks_[{*id}], addresses)) return {*id};
  }
}

}  // namespace kmt
