// SPDX-License-Identifier: GPL-2.0-or-later
// Every number by which reports, series of snapshots, the fleet and `investigate` judge growth. Values marked "chosen"
// were set by judgement, not measured, and are held by the unit tests of analysis/growth.
#pragma once

#include <array>
#include <cstdint>

namespace kmt {

struct Thresholds {
  // All verdicts.
  double confidence = 0.95;                     // one-sided; of random walks (analysis/series/trend.hpp), not of noise
  double usual_bytes_per_s = 64 * 1024 / 60.0;  // 64 KiB a minute, 92 MiB a day; chosen
  double least_seconds = 1;                     // a shorter course shows what one burst does; chosen

  // The fleet calls any rise growth, without a threshold or a test: it counts hosts on which a group grows, and slow
  // growth on many of them is what it is asked for.

  // `leaks` and the fleet doubt a group if at least 1 in so many frees was not seen: fewer may be mistakes of the
  // recording. Chosen. Both look at exact recordings, unlike the two limits below.
  std::uint64_t frees_per_unseen = 100;
  // `investigate` asks per task instead. A recording holds what is live if that is 4 times what was freed unseen:
  // another task's untraced path must not hide it. Samples drop a place only with two such ends, as one may be a missed
  // free, and at most 4 others for each: most objects of a leak live and are never replaced. Chosen.
  std::uint64_t held_per_unseen = 4;
  std::uint64_t samples_per_unseen = 4;
  std::uint64_t fewest_unseen_samples = 2;

  // Series of snapshots only: growth has stopped if the last quarter rose by less than a tenth of what even growth
  // would have. Only they are long enough to see that; chosen.
  double stopped_part = 0.25;
  double stopped_share = 0.1;

  // `investigate` only, which looks at thousands of groups for minutes: `leaks` and the fleet show small groups, too.
  double least_rise = 16 << 10;           // bytes: two samples of the usual distance or four pages are no leak; chosen
  double far_more_even = 0.01;            // of the chance that is allowed: needs no second source then; chosen
  double shortest_watch = 10;             // seconds: needs 16 values of states and samples that were drawn; chosen
  double shortest_recording = 0.1;        // of the time: a shorter one takes what lives longer for growth; chosen
  double shortest_recording_seconds = 1;  // likewise, without samples
  double ended_early = 0.9;               // memory followed for a smaller part of the time ended early; chosen

  // A cache and those who take from it. Slabs are shared, so their rates agree only roughly; chosen.
  double enough_of_rate = 0.4;  // a cache that grows by this part of a finding's rate confirms it
  double too_slow = 0.8;        // one whose whole interval is below this part of it does not grow so
  double differs_least = 0.5;   // two copies differ about as much between these factors
  double differs_most = 2;
  double good_part = 0.3;      // of a finding's bytes
  double most_of_cache = 0.5;  // of what was seen to live in a cache
  double nearly_all_of_cache = 0.9;
  double share_of_cause = 0.1;   // caches of less of a finding are left out
  double common_function = 0.9;  // of the bytes pass through the function that a finding is named by

  // Few samples. Half of a small leak's samples may be missing by chance in 15 s, and its rate with them, while the
  // share of the samples of a cache is subject to the same chance: so the rate may be a quarter.
  std::uint64_t fewest_samples = 5;
  std::uint64_t fewest_if_nearly_all = 3;
  double even_enough = 0.99;  // excludes what was taken at once; chosen
  double least_of_rate = 0.25;

  // Samples of the time before a recording: a Poisson count is 0.3 times as large as 8 in 0.5 % of all cases.
  double fewest_expected = 8;
  double least_share_of_expected = 0.3;

  // The kernel's account. Chosen, on busy machines with compilers and planted leaks.
  double nearly_all_of_class =
      0.9;  // of the rise of a kmalloc size: its course is not blurred by the other caches then
  std::array<double, 2> late_parts = {0.5, 1.0 / 3};  // last parts that are judged by themselves
  double rose_unfollowed_bytes = 1 << 20;
  double rose_unfollowed_share = 0.5;  // of what it was
  double hardly_ever_falls = 0.999;    // values that never fall have a confidence above it (kTauOfWalk)
  double much_explained = 0.5;         // of what something grows by: of less hardly anything is
  double least_beside = 0.2;           // of the fastest: what grows more slowly may come with it, as objects with files

  // The kernel's memory for a recording comes as one step during its set-up.
  double recorders_jump = 0.8;            // of the rise, and the rise of that
  double recorders_other_moves = 0.3;     // of the jump
  double longest_setup = 0.25;            // of the time: a longer line between its ends would look like even growth
  double seconds_to_end_recording = 0.5;  // until the kernel has freed it again

  // A recording covers everything that may grow: the limits are lower than for a finding; chosen.
  std::uint64_t fewest_samples_to_record = 3;
  double least_of_each_half = 0.15;  // of the rise: else it is a burst
  double confidence_to_record = 0.9;
  double even_enough_to_record = 0.999;  // of caches that samples do not show: there are hundreds
};

inline constexpr Thresholds kThresholds;

}  // namespace kmt
