// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/user_stacks.hpp"

namespace kmt {

StackId UserStacks::keep(std::int32_t process, std::span<const std::uint64_t> addresses) {
  if (addresses.empty()) return {};
  scratch_.assign(1, static_cast<std::uint32_t>(process));
  scratch_.insert(scratch_.end(), addresses.begin(), addresses.end());
  return kept_.id_of(scratch_);
}

StackId UserStacks::place(StackId kernel, StackId kept, std::uint64_t time_ns) {
  if (kept == StackId{}) return kernel;
  if (placed_.size() <= kept.value) placed_.resize(kept_stacks_.size());
  Placed& placed = placed_[kept.value];
  const std::span<const std::uint64_t> words = kept_stacks_[kept];
  const std::uint64_t state = info_.code.address_spaces.state(static_cast<std::int32_t>(words.front()), time_ns);
  if (placed.state != state) placed = {state, frames_of(words, time_ns, state != 0)};
  return stacks_.id_of_both(kernel, placed.stack);
}

// Returns the stack for these addresses. It ends at the first address outside code, because a program without frame
// pointers may have any value in place of a return address. The innermost address is always kept, because it is the
// program counter.
StackId UserStacks::frames_of(std::span<const std::uint64_t> kept, std::uint64_t time_ns, bool is_known) {
  const auto process = static_cast<std::int32_t>(kept.front());
  scratch_.clear();
  for (const std::uint64_t address : kept.subspan(1)) {
    UserFrame frame = frame_at(process, address, time_ns);
    const bool innermost = scratch_.empty();
    if (!innermost && is_known && frame.object == UserCode::kUnknown) break;
    frame.is_return_address = innermost ? 0 : 1;
    scratch_.push_back(frame_number(frame));
  }
  return stacks_.user_id_of(scratch_);
}

UserFrame UserStacks::frame_at(std::int32_t process, std::uint64_t address, std::uint64_t time_ns) const {
  const auto place = info_.code.address_spaces.find(process, time_ns, address);
  if (!place) return {address, UserCode::kUnknown, 0};
  return {place->offset, place->object, 0};
}

StackId UserStacks::place_of_kernel(std::uint64_t address) {
  return stacks_.place_id_of(frame_number({address, UserCode::kKernel, 0}));
}

std::uint32_t UserStacks::frame_number(const UserFrame& frame) {
  const auto [number, is_new] = frames_.id_of(frame);
  if (is_new) info_.code.user.frames.push_back(frame);
  return number;
}

}  // namespace kmt
