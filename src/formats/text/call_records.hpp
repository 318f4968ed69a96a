// SPDX-License-Identifier: GPL-2.0-or-later
// Converts lines of the function_graph tracer to records of the events funcgraph_entry and funcgraph_exit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/endian.hpp"
#include "formats/text/call_line.hpp"
#include "formats/text/printed_types.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::text {

class CallRecordFormat {
 public:
  void learn(const CallLine& call);
  bool any() const { return any_; }
  // Adds the formats of all events, with IDs from `first_id` on, and the types of printed values. `kernel.long_bytes`
  // must be set.
  void describe(unsigned first_id, KernelDescription& kernel);
  void encode_entry(const CallLine& call, std::uint64_t function, std::vector<std::uint8_t>& record) const;
  void encode_exit(const CallLine& call, std::uint64_t function, std::vector<std::uint8_t>& record) const;

 private:
  bool any_ = false;
  bool has_arguments_ = false;
  // An exit has the fields of a duration and of a result only if the line has these values.
  static constexpr unsigned kResult = 1, kDuration = 2;
  struct Exit {
    bool is_used = false;
    std::vector<unsigned> offsets;
  };
  static unsigned form_of(const CallLine& call);

  unsigned entry_id_ = 0, exit_id_ = 0;  // the ID of an exit is exit_id_ + its form
  std::array<Exit, 4> exits_;            // by form
  unsigned long_bytes_ = 8;
  std::vector<unsigned> entry_offsets_;
  PrintedTypes types_;
};

}  // namespace kmt::text
