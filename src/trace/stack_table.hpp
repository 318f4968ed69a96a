// SPDX-License-Identifier: GPL-2.0-or-later
// The distinct stacks of a trace: return addresses, innermost first, all in one array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/ids.hpp"

namespace kmt {

class StackTable {
 public:
  std::size_t size() const { return ends_.size(); }  // the stack 0, "none", counts
  std::span<const std::uint64_t> operator[](StackId id) const {
    const std::size_t start = id.value == 0 ? 0 : ends_[id.value - 1];
    return std::span(addresses_).subspan(start, ends_[id.value] - start);
  }
  // Whoever adds sees to it that no stack is there twice.
  StackId add(std::span<const std::uint64_t> addresses) {
    addresses_.insert(addresses_.end(), addresses.begin(), addresses.end());
    ends_.push_back(addresses_.size());
    return {static_cast<std::uint32_t>(ends_.size() - 1)};
  }

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint64_t> ends_ = {0};  // of each stack, in addresses_
};

}  // namespace kmt
