// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the columns with the times of a block, as docs/formats/kmt.md specifies them, and the search for the step of a
// clock.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/kmt/times/clock_step.hpp"
#include "formats/kmt/times/decoder.hpp"
#include "formats/kmt/times/encoder.hpp"

namespace kmt {
namespace {

using namespace kmt_format;

using Columns = std::vector<std::uint8_t>;
using Times = std::vector<std::uint64_t>;

kmt_format::Column column_of(Bytes bytes) { return {bytes.data(), bytes.data() + bytes.size()}; }

Times decode(std::uint64_t first, std::uint64_t step, Bytes codes, Bytes low_bits, std::size_t count) {
  TimeDecoder decoder(first, step, column_of(codes), column_of(low_bits));
  Times times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(decoder.next());
  return times;
}

constexpr std::uint64_t kTenAndAQuarter = 41ull << 30;  // 10.25 ticks in 1/2^32 ticks

TEST(KmtTimes, AreReadAsSpecified) {
  // Numbers 0, 7, 8, 15, 16 and 1000 in ticks. Their low bits are none, none, 0, 1, 00 and 1101000 (1000 is
  // 1111101000).
  const Columns codes{0, 7, 8, 11, 12, 35};
  EXPECT_EQ(decode(5, kOneTick, codes, Columns{0b10000010, 0b110}, 6), (Times{5, 12, 20, 35, 51, 1051}));
  // The position starts in the middle of tick 5. Steps of 10.25 ticks: 15.75, 26, then 36.25 as tick 37 (which makes it
  // 37.0), 47.25, then 57.5 as tick 56 (nearly 57), 67.25, and 4 ticks more in ticks (71.5), 81.75.
  const Columns stepped{0, 1, 1, 252, 1, 1, 253, 1, 1, 254, 4, 1};
  EXPECT_EQ(decode(5, kTenAndAQuarter, stepped, {}, 9), (Times{5, 15, 26, 37, 47, 56, 67, 71, 81}));
  // The largest number: 2^64 - 1 ticks are one tick backward.
  const Columns back{254, 251, 1};
  EXPECT_EQ(decode(5, kOneTick, back, Columns(8, 0xFF), 2), (Times{4, 5}));
}

TEST(KmtTimes, TimesOfOlderVersionsAreVarints) {
  EXPECT_EQ(decode(5, 0, Columns{0, 0x80, 1, 3}, {}, 3), (Times{5, 133, 136}));
}

TEST(KmtTimes, BrokenRulesAreErrors) {
  const auto fails = [](const Columns& codes, const Columns& low_bits) {
    EXPECT_THROW(decode(0, kOneTick, codes, low_bits, 1), Error) << testing::PrintToString(codes);
  };
  fails({}, {});
  fails({255}, {});
  fails({255, 1}, {});
  fails({252}, {});
  fails({252, 252, 1}, {});
  fails({254, 255}, {});
  fails({8}, {});
  fails({44}, {0});                  // 10 low bits, but there are 8
  fails({251}, Columns(7, 0));       // 61 low bits, but there are 56
  fails({254, 251}, Columns(7, 0));  // the same in ticks
}

TEST(KmtTimes, AreWrittenAsSpecified) {
  TimeEncoder encoder;
  for (const std::uint64_t ticks : {5u, 12u, 20u, 35u, 51u, 1051u}) encoder.add(ticks);
  encoder.add(1050);
  EXPECT_EQ(encoder.first_ticks(), 5u);
  EXPECT_EQ(encoder.last_ticks(), 1050u);
  EXPECT_EQ(encoder.step(), kOneTick);
  EXPECT_EQ(Columns(encoder.codes().begin(), encoder.codes().end()), (Columns{0, 7, 8, 11, 12, 35, 254, 251}));
  // 11 bits as above, and then 61 bits that are set
  EXPECT_EQ(Columns(encoder.low_bits().begin(), encoder.low_bits().end()),
            (Columns{0b10000010, 0b11111110, 255, 255, 255, 255, 255, 255, 255}));
}

// A clock that advances by `step` ticks at a time, and is read at random times.
class Clock {
 public:
  explicit Clock(double step, std::uint64_t seed = 1) : step_(step), random_(seed) {}
  std::uint64_t read() {
    const double most = random_() % 1000 == 0 ? 1e7 : 4000;  // in ticks
    count_ += 12 + random_() % static_cast<std::uint64_t>(most / step_);
    return static_cast<std::uint64_t>(static_cast<double>(count_) * step_);
  }

 private:
  double step_;
  std::mt19937_64 random_;
  std::uint64_t count_ = 1'000'000;
};

std::vector<std::uint32_t> differences_of(Clock clock) {
  std::vector<std::uint32_t> differences;
  std::uint64_t last = clock.read();
  for (std::size_t i = 0; i < kStepSample; ++i) {
    const std::uint64_t next = clock.read();
    differences.push_back(static_cast<std::uint32_t>(next - last));
    last = next;
  }
  return differences;
}

TEST(KmtClockStep, IsFound) {
  for (const double step : {4.0, 5.2083, 7.0, 10.0148457, 12.5, 16.0, 18.5185, 40.0, 41.6667, 52.0833}) {
    const double found = std::ldexp(static_cast<double>(find_clock_step(differences_of(Clock(step)))), -32);
    EXPECT_NEAR(found, step, step * 2e-5);
  }
}

TEST(KmtClockStep, IsNotFoundWhereThereIsNone) {
  EXPECT_EQ(find_clock_step({}), 0u);
  EXPECT_EQ(find_clock_step(differences_of(Clock(1.0))), 0u);
  EXPECT_EQ(find_clock_step(differences_of(Clock(0.3))), 0u);
  EXPECT_EQ(find_clock_step(std::vector<std::uint32_t>(kStepSample, 0)), 0u);
  EXPECT_EQ(find_clock_step(std::vector<std::uint32_t>(kStepSample, 100)), 0u);
  EXPECT_EQ(find_clock_step(std::vector<std::uint32_t>(kStepSample, std::numeric_limits<std::uint32_t>::max())), 0u);
  std::vector<std::uint32_t> too_few = differences_of(Clock(10.0));
  too_few.pop_back();
  EXPECT_EQ(find_clock_step(too_few), 0u);
  // The shortest differences seem to have steps of 4.5 ticks, but most of these are shorter than half a step. In the
  // end, no difference is longer than that.
  std::vector<std::uint32_t> vanishing(kStepSample, 10);
  std::fill_n(vanishing.begin(), 195, 0);
  std::fill_n(vanishing.begin() + 195, 60, 1);
  vanishing[255] = 9;
  EXPECT_EQ(find_clock_step(vanishing), 0u);
}

// Encodes blocks of a clock. Returns the bytes per time of the last block.
double encode_blocks(TimeEncoder& encoder, Clock& clock, unsigned blocks) {
  constexpr std::size_t kTimes = 20000;
  double bytes = 0;
  for (unsigned block = 0; block < blocks; ++block) {
    Times times;
    for (std::size_t i = 0; i < kTimes; ++i) {
      times.push_back(clock.read());
      encoder.add(times.back());
    }
    EXPECT_EQ(decode(encoder.first_ticks(), encoder.step(), encoder.codes(), encoder.low_bits(), kTimes), times);
    EXPECT_EQ(encoder.last_ticks(), times.back());
    bytes = static_cast<double>(encoder.bytes()) / kTimes;
    encoder.reset();
    EXPECT_EQ(encoder.bytes(), 0u);
    EXPECT_EQ(encoder.last_ticks(), 0u) << "a block without events";
  }
  return bytes;
}

TEST(KmtTimes, AreInStepsOfTheClock) {
  TimeEncoder encoder;
  Clock clock(10.0148457);
  const double in_ticks = encode_blocks(encoder, clock, 1);
  EXPECT_NEAR(std::ldexp(static_cast<double>(encoder.step()), -32), 10.0148457, 1e-4);
  const double in_steps = encode_blocks(encoder, clock, 4);
  EXPECT_NEAR(std::ldexp(static_cast<double>(encoder.step()), -32), 10.0148457, 1e-6);
  EXPECT_NEAR(in_ticks - in_steps, std::log2(10) / 8, 0.1);
}

TEST(KmtTimes, AWrongStepIsGivenUp) {
  TimeEncoder encoder;
  Clock stepped(10.0148457);
  encode_blocks(encoder, stepped, 3);
  EXPECT_NE(encoder.step(), kOneTick);
  Clock fine(1.0, 2);
  encode_blocks(encoder, fine, 1);
  EXPECT_EQ(encoder.step(), kOneTick);
  encode_blocks(encoder, fine, 5);
  EXPECT_EQ(encoder.step(), kOneTick);
}

TEST(KmtTimes, MayGoBackwardOrJumpForwardInSteps) {
  TimeEncoder encoder;
  Clock clock(10.0148457);
  encode_blocks(encoder, clock, 2);
  const Times times = {1'000'000, 5, ~0ull, 0, 1ull << 63, (1ull << 63) + (1ull << 31) - 1, (1ull << 63) + (1ull << 32),
                       7};
  for (const std::uint64_t time : times) encoder.add(time);
  EXPECT_GT(encoder.step(), 10 * kOneTick);
  EXPECT_EQ(decode(encoder.first_ticks(), encoder.step(), encoder.codes(), encoder.low_bits(), times.size()), times);
}

}  // namespace
}  // namespace kmt
