// SPDX-License-Identifier: GPL-2.0-or-later
// The distinct stacks of a trace, innermost frame first: kernel stacks, user stacks, and combinations of both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arithmetic/size.hpp"
#include "trace/ids.hpp"

namespace kmt {

class StackTable {
 public:
  std::size_t size() const { return stacks_.size(); }  // number of stacks, including stack 0 ("none")
  // Returns the kernel part of a stack: return addresses.
  std::span<const std::uint64_t> operator[](StackId id) const { return part(stacks_[id.value].kernel); }
  // Returns the user part of a stack: indices into UserCode::frames.
  std::span<const std::uint64_t> user(StackId id) const { return part(stacks_[id.value].user); }

  // Adds a stack and returns its ID. The table does not detect duplicates, so the caller must not add a stack twice.
  StackId add(std::span<const std::uint64_t> addresses) {
    ++kernel_stacks_;
    return push({append(addresses), {}});
  }
  StackId add_user(std::span<const std::uint64_t> frames) {
    ++user_stacks_;
    return push({{}, append(frames)});
  }
  // Adds a stack that consists of one user frame, the program counter. Such stacks are not included in kernel_stacks()
  // and user_stacks().
  StackId add_place(std::uint64_t frame) { return push({{}, append({&frame, 1})}); }
  StackId add_both(StackId kernel, StackId user) {
    return push({stacks_[kernel.value].kernel, stacks_[user.value].user});
  }

  // Return the number of distinct stacks of each kind.
  std::size_t kernel_stacks() const { return kernel_stacks_; }
  std::size_t user_stacks() const { return user_stacks_; }
  bool has_stacks() const { return kernel_stacks_ + user_stacks_ > 0; }

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
  };
  struct Stack {
    Part kernel;
    Part user;
  };

  std::span<const std::uint64_t> part(Part part) const {
    return std::span(words_).subspan(to_size(part.begin), to_size(part.count));
  }
  Part append(std::span<const std::uint64_t> words) {
    const Part part{words_.size(), words.size()};
    words_.insert(words_.end(), words.begin(), words.end());
    return part;
  }
  StackId push(Stack stack) {
    stacks_.push_back(stack);
    return {static_cast<std::uint32_t>(stacks_.size() - 1)};
  }

  std::vector<std::uint64_t> words_;
  std::vector<Stack> stacks_ = {{}};
  std::size_t kernel_stacks_ = 0;
  std::size_t user_stacks_ = 0;
};

}  // namespace kmt
