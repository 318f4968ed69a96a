// SPDX-License-Identifier: GPL-2.0-or-later
// From addresses in a process' memory to frames of TraceCode::user. What lies there depends on the time, so stacks
// are kept as they come until the event is known that they are of.
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
  // The info, in whose tables frames and stacks go, must outlive this.
  explicit UserStacks(TraceInfo& info) : info_(info), kept_(kept_stacks_), stacks_(info.tables.stacks) {}

  bool any() const { return kept_stacks_.size() > 1; }
  // Addresses of a process (thread group), the innermost first; 0 of none.
  StackId keep(std::int32_t process, std::span<const std::uint64_t> addresses);
  // The stack of an event at that time whose kernel part is `kernel`, a stack of the info's, with what was kept.
  StackId place(StackId kernel, StackId kept, std::uint64_t time_ns);
  // Of a sample that has no stack: where the program was. Of an address of the kernel, whatever the process.
  StackId place_of_kernel(std::uint64_t address);
  StackId place_of_user(std::int32_t process, std::uint64_t address, std::uint64_t time_ns);

 private:
  struct Placed {
    std::uint64_t state = ~std::uint64_t{0};  // AddressSpaces::state() for which it is so
    StackId stack;
  };

  std::uint32_t frame_number(const UserFrame& frame);
  UserFrame frame_at(std::int32_t process, std::uint64_t address, std::uint64_t time_ns) const;
  StackId frames_of(std::span<const std::uint64_t> kept, std::uint64_t time_ns, bool is_known);

  TraceInfo& info_;
  StackTable kept_stacks_;  // in front of the addresses the process
  StackIds kept_;
  StackIds stacks_;
  InternTable<UserFrame> frames_;
  std::vector<Placed> placed_;          // by what was kept
  std::vector<std::uint64_t> scratch_;  // of one stack
};

}  // namespace kmt
