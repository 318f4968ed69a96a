// SPDX-License-Identifier: GPL-2.0-or-later
// Turns addresses in a process' memory into frames of TraceCode::user. Mappings change over time, so stacks are kept
// raw until their event is known.
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
  // The info receives frames and stacks, and must outlive this object.
  explicit UserStacks(TraceInfo& info) : info_(info), kept_(kept_stacks_), stacks_(info.tables.stacks) {}

  bool any() const { return kept_stacks_.size() > 1; }
  // Keeps addresses of a process (thread group), the innermost first. Returns 0 if there are none.
  StackId keep(std::int32_t process, std::span<const std::uint64_t> addresses);
  // Returns the stack of an event at that time: `kernel`, a stack of the info's, and the kept part.
  StackId place(StackId kernel, StackId kept, std::uint64_t time_ns);
  // Returns the stack of one kernel address, for a sample without a stack.
  StackId place_of_kernel(std::uint64_t address);

 private:
  struct Placed {
    std::uint64_t state = ~std::uint64_t{0};  // AddressSpaces::state() of this placement
    StackId stack;
  };

  std::uint32_t frame_number(const UserFrame& frame);
  UserFrame frame_at(std::int32_t process, std::uint64_t address, std::uint64_t time_ns) const;
  StackId frames_of(std::span<const std::uint64_t> kept, std::uint64_t time_ns, bool is_known);

  TraceInfo& info_;
  StackTable kept_stacks_;  // the process precedes the addresses
  StackIds kept_;
  StackIds stacks_;
  InternTable<UserFrame> frames_;
  std::vector<Placed> placed_;          // by kept stack
  std::vector<std::uint64_t> scratch_;  // of one stack
};

}  // namespace kmt
