// SPDX-License-Identifier: GPL-2.0-or-later
// Converts user-space addresses to frames of TraceCode::user. Mappings change over time. So keep() stores the
// addresses, and place() converts them when all earlier mappings are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/intern_table.hpp"
#include "trace/stack_ids.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class UserStacks {
 public:
  // Adds frames and stacks to `info`, which must outlive this object.
  explicit UserStacks(TraceInfo& info) : info_(info), kept_(kept_stacks_), stacks_(info.tables.stacks) {}

  bool any() const { return kept_stacks_.size() > 1; }
  // Stores the addresses of a user stack, innermost first. `process` is a thread group. Returns 0 if there are no
  // addresses.
  StackId keep(std::int32_t process, std::span<const std::uint64_t> addresses);
  // Returns the whole stack of an event at this time. `kernel` is its kernel stack from info.tables.stacks, and `kept`
  // is from keep().
  StackId place(StackId kernel, StackId kept, std::uint64_t time_ns);
  // Returns a stack with only this kernel address, for a sample without a stack.
  StackId place_of_kernel(std::uint64_t address);

 private:
  struct Placed {
    std::uint64_t state = ~std::uint64_t{0};  // value of AddressSpaces::state() when the frames were determined
    StackId stack;
  };

  std::uint32_t frame_number(const UserFrame& frame);
  UserFrame frame_at(std::int32_t process, std::uint64_t address, std::uint64_t time_ns) const;
  StackId frames_of(std::span<const std::uint64_t> kept, std::uint64_t time_ns, bool is_known);

  TraceInfo& info_;
  StackTable kept_stacks_;  // each entry: the process, then the addresses
  StackIds kept_;
  StackIds stacks_;
  InternTable<UserFrame> frames_;
  std::vector<Placed> placed_;          // indexed by the numbers that keep() returns
  std::vector<std::uint64_t> scratch_;  // reused for each stack
};

}  // namespace kmt
