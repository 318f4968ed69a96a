// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/times/encoder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/endian.hpp"

namespace kmt::kmt_format {

namespace {

constexpr std::uint64_t kMostInSteps = std::uint64_t{1} << 31;  // in ticks; longer differences overflow the position
// Longer differences, in ticks, do not improve the step, because an error of the step changes their number of steps.
constexpr std::uint64_t kMostPrecise = std::uint64_t{1} << 22;
constexpr std::uint64_t kEnoughSteps = std::uint64_t{1} << 16;  // enough to compute a more precise step
constexpr std::uint64_t kMostAdjusted = 8;   // a step is wrong if more than one in 8 times is not on it
constexpr std::size_t kMoreLowBits = 16384;  // bytes by which the column grows

}  // namespace

void TimeEncoder::add(std::uint64_t ticks) {
  if (codes_.empty()) first_ticks_ = last_ticks_ = ticks;
  const std::uint64_t difference = ticks - last_ticks_;
  last_ticks_ = ticks;
  if (difference >= kMostInSteps) return put_ticks(difference);
  if (sample_.size() < wanted_sample_) sample_.push_back(static_cast<std::uint32_t>(difference));

  // The fraction moves the position by less than a tick, which does not change the nearest number of steps.
  const double nearest = static_cast<double>(static_cast<std::int64_t>(difference)) * steps_per_tick_ + 0.5;
  const auto steps = static_cast<std::uint64_t>(static_cast<std::int64_t>(nearest));
  const std::uint64_t position = fraction_ + steps * step_;
  const std::uint64_t reached = position >> kPointBits;
  fraction_ = position & kFractionMask;
  if (reached != difference) {
    ++adjusted_;
    if (difference == reached + 1) {
      codes_.push_back(kTickLater);
      fraction_ = 0;
    } else if (difference + 1 == reached) {
      codes_.push_back(kTickEarlier);
      fraction_ = kFractionMask;
    } else {
      return put_ticks(difference);
    }
  }
  put(steps);
  if (difference < kMostPrecise) {
    sum_ticks_ += difference;
    sum_steps_ += steps;
  }
}

void TimeEncoder::put_ticks(std::uint64_t difference) {
  codes_.push_back(kInTicks);
  put(difference);
  fraction_ = kHalfTick;
}

void TimeEncoder::put(std::uint64_t number) {
  if (number < kShortNumbers) return codes_.push_back(static_cast<std::uint8_t>(number));
  const unsigned count = static_cast<unsigned>(std::bit_width(number)) - 1 - kCodeBits;
  codes_.push_back(static_cast<std::uint8_t>((count << kCodeBits) + (number >> count)));
  const std::uint64_t low = number & ((std::uint64_t{1} << count) - 1);
  constexpr unsigned kHalf = 32;
  put_low_bits(low & 0xFFFFFFFF, std::min(count, kHalf));
  if (count > kHalf) put_low_bits(low >> kHalf, count - kHalf);
}

// Stores a whole word without a loop over its bytes, because the CPU cannot predict the number of bytes well.
void TimeEncoder::put_low_bits(std::uint64_t bits, unsigned count) {
  if (low_bits_.size() - low_bits_end_ < sizeof bits) low_bits_.resize(low_bits_.size() + kMoreLowBits);
  open_bits_ |= bits << open_count_;
  open_count_ += count;
  store(low_bits_.data() + low_bits_end_, open_bits_, ByteOrder::little);
  low_bits_end_ += open_count_ / 8;
  open_bits_ >>= open_count_ / 8 * 8;
  open_count_ %= 8;
}

Bytes TimeEncoder::low_bits() const { return Bytes(low_bits_).first(low_bits_end_ + (open_count_ > 0 ? 1 : 0)); }

void TimeEncoder::reset() {
  choose_step();
  codes_.clear();
  low_bits_end_ = 0;
  open_bits_ = open_count_ = 0;
  first_ticks_ = last_ticks_ = 0;
  fraction_ = kHalfTick;
  sum_ticks_ = sum_steps_ = adjusted_ = 0;
}

// Chooses the step for the next block.
void TimeEncoder::choose_step() {
  if (step_ == kOneTick) {
    if (const std::uint64_t found = find_clock_step(sample_)) step_ = found;
  } else if (adjusted_ * kMostAdjusted > codes_.size()) {
    step_ = kOneTick;
  } else if (sum_steps_ >= kEnoughSteps) {
    step_ =
        static_cast<std::uint64_t>(std::ldexp(static_cast<double>(sum_ticks_) / static_cast<double>(sum_steps_), 32));
  }
  steps_per_tick_ = static_cast<double>(kOneTick) / static_cast<double>(step_);
  // A search takes some milliseconds, so search only after 1, 2, 4, 8, … blocks without a step.
  sample_ = {};
  wanted_sample_ = step_ == kOneTick && std::has_single_bit(++blocks_) ? kStepSample : 0;
}

}  // namespace kmt::kmt_format
