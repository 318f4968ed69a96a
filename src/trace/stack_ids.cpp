// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/stack_ids.hpp"

#include <algorithm>
#include <string_view>

#include "base/hash.hpp"

namespace kmt {

namespace {

template <typename Add, typename Get>
StackId find_or_add(FlatMap<std::uint32_t>& ids, std::span<const std::uint64_t> words, Add&& add, Get&& get) {
  if (words.empty()) return {};
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  for (std::uint64_t key = hash_of(bytes);; ++key) {
    const auto [id, inserted] = ids.insert(key);
    if (inserted) *id = add(words).value;
    if (inserted || std::ranges::equal(get(StackId{*id}), words)) return {*id};
  }
}

}  // namespace

StackId StackIds::id_of(std::span<const std::uint64_t> addresses) {
  return find_or_add(
      kernel_ids_, addresses, [this](auto words) { return stacks_.add(words); },
      [this](StackId id) { return stacks_[id]; });
}

StackId StackIds::user_id_of(std::span<const std::uint64_t> frames) {
  return find_or_add(
      user_ids_, frames, [this](auto words) { return stacks_.add_user(words); },
      [this](StackId id) { return stacks_.user(id); });
}

StackId StackIds::place_id_of(std::uint64_t frame) {
  const auto [id, inserted] = place_ids_.insert(frame);
  if (inserted) *id = stacks_.add_place(frame).value;
  return {*id};
}

StackId StackIds::id_of_both(StackId kernel, StackId user) {
  if (kernel == StackId{} || user == StackId{}) return kernel == StackId{} ? user : kernel;
  const auto [id, inserted] = ids_of_both_.insert(std::uint64_t{kernel.value} << 32 | user.value);
  if (inserted) *id = stacks_.add_both(kernel, user).value;
  return {*id};
}

}  // namespace kmt
