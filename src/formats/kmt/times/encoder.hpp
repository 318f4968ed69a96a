// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes the times of a block as two columns: docs/formats/kmt.md, "Times". A trace clock often advances in steps of
// several nanoseconds, such as 10.015 ns on an AMD EPYC. So the time between two events is stored as a number of
// steps. The encoder finds the length of a step from the times of a block, and uses it from the next block on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/kmt/times/clock_step.hpp"
#include "formats/kmt/times/code.hpp"

namespace kmt::kmt_format {

class TimeEncoder {
 public:
  void add(std::uint64_t ticks);

  std::uint64_t first_ticks() const { return first_ticks_; }
  std::uint64_t last_ticks() const { return last_ticks_; }
  std::uint64_t step() const { return step_; }  // in 1/2^32 ticks
  std::size_t bytes() const { return codes_.size() + low_bits_end_; }
  Bytes codes() const { return codes_; }
  Bytes low_bits() const;
  void reset();  // starts the next block

 private:
  void put(std::uint64_t number);
  void put_ticks(std::uint64_t difference);
  void put_low_bits(std::uint64_t bits, unsigned count);
  void choose_step();

  std::uint64_t step_ = kOneTick;
  double steps_per_tick_ = 1;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t fraction_ = kHalfTick;  // the clock's position after last_ticks_, in 1/2^32 ticks
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint8_t> low_bits_;  // may have unused bytes at its end
  std::size_t low_bits_end_ = 0;        // number of whole bytes of low bits
  std::uint64_t open_bits_ = 0;         // the low bits that do not fill a byte yet
  unsigned open_count_ = 0;             // number of these bits, less than 8
  // Sums of the short differences of this block, and the number of times that were not on a step.
  std::uint64_t sum_ticks_ = 0;
  std::uint64_t sum_steps_ = 0;
  std::uint64_t adjusted_ = 0;
  // The first differences of this block, if the length of a step is to be found.
  std::vector<std::uint32_t> sample_;
  std::size_t wanted_sample_ = kStepSample;
  unsigned blocks_ = 0;  // number of finished blocks that ended without a known step
};

}  // namespace kmt::kmt_format
