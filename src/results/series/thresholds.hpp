// SPDX-License-Identifier: GPL-2.0-or-later
// All numbers by which reports, series of snapshots, the fleet and `investigate` judge growth. Values marked "chosen"
// were set by judgement, not measured. The unit tests of analysis/growth check them.
#pragma once

#include <array>
#include <cstdint>

namespace kmt {

struct Thresholds {
  // All verdicts.
  double confidence = 0.95;  // one-sided, against random walks (analysis/series/trend.hpp) instead of noise
  double usual_bytes_per_s = 64 * 1024 / 60.0;  // 64 KiB per minute, 92 MiB per day; chosen
  double least_seconds = 1;                     // shorter times show only the effect of one burst; chosen

  // The fleet counts any rise as growth, without a threshold or a test. It counts hosts on which a group grows, because
  // users look for slow growth on many hosts.

  // `leaks` and the fleet doubt a group if at least 1 of this number of frees was not traced. Fewer untraced frees may
  // be errors of the recording. Chosen. Both use exact recordings only.
  std::uint64_t frees_per_unseen = 100;
  // Objects that live longer than a recording: frees of older ones keep pace if they are at least this part of the
  // allocations that still live, in each third of the time. Without a cache on both events, only a function of a
  // similar name whose frees differ by less than `same_pace` counts; with fewer allocations, that would be chance.
  // Chosen.
  double pace_of_older = 0.5;
  double same_pace = 0.25;
  std::uint64_t fewest_births = 20;

  // Page tables are explained by user memory; the ratio is tables to memory. Processes that start have page tables
  // of a tenth of their memory. Chosen.
  double most_page_tables = 0.5;

  // `investigate` checks each task instead, since the untraced path of another task must not hide growth. In a
  // recording, a group is trusted if its live objects are at least 4 times its untraced frees. In samples, a place is
  // dropped only if it has at least two untraced frees (one may be a missed free) and at most 4 other objects for each
  // of them, because most objects of a leak stay live. Chosen.
  std::uint64_t held_per_unseen = 4;
  std::uint64_t samples_per_unseen = 4;
  std::uint64_t fewest_unseen_samples = 2;

  // Only for series of snapshots, which are long enough: growth has stopped if the last quarter rose by less than a
  // tenth of the rise that steady growth would have. Chosen.
  double stopped_part = 0.25;
  double stopped_share = 0.1;

  // Only for `investigate`, which examines thousands of groups for minutes. `leaks` and the fleet also show small
  // groups.
  double least_rise = 16 << 10;  // bytes: two samples at the default distance or four pages are not a leak; chosen
  // Growth needs no second source if the probability of chance is at most this share of the allowed one; chosen.
  double highly_significant_share = 0.01;
  double shortest_watch = 10;  // seconds; shorter times have fewer than 16 values of states and too few samples; chosen
  // Share of the time; a shorter recording mistakes long-lived memory for growth; chosen.
  double shortest_recording = 0.1;
  double shortest_recording_seconds = 1;  // seconds, also required without samples
  double ended_early = 0.9;  // if memory was followed for a smaller share of the time, following ended early; chosen

  double least_covered = 0.5;  // share of the time; if less was covered, growth cannot be ruled out; chosen

  // Comparison of a cache with the findings that allocate from it. Slabs are shared, so their rates agree only roughly;
  // chosen.
  double enough_of_rate = 0.4;  // a cache confirms a finding if it grows by this share of the finding's rate
  double too_slow = 0.8;  // a cache contradicts a finding if its confidence interval is below this share of that rate
  double differs_least = 0.5;  // two copies agree with a finding if their ratio is between these factors
  double differs_most = 2;
  double good_part = 0.3;      // share of a finding's bytes
  double most_of_cache = 0.5;  // share of the live memory seen in a cache
  double nearly_all_of_cache = 0.9;
  double share_of_cause = 0.1;   // caches with a smaller share of a finding are left out
  double common_function = 0.9;  // share of the bytes whose stacks contain the function that names a finding

  // Few samples. In 15 s, half of a small leak's samples may be missing by chance, which halves its rate. Its share of
  // the samples of a cache varies in the same way, so the rate may be only a quarter.
  std::uint64_t fewest_samples = 5;
  std::uint64_t fewest_if_nearly_all = 3;
  double even_enough = 0.99;  // excludes memory that was allocated in one step; chosen
  double least_of_rate = 0.25;

  // Samples from before a recording: if 8 are expected, a Poisson count is at most 0.3 times as large in 0.5 % of all
  // cases.
  double fewest_expected = 8;
  double least_share_of_expected = 0.3;

  // The kernel's counters. Chosen, on busy machines with compilers and test leaks.
  // Share of the rise of a kmalloc size; then the other caches hardly blur the rise of this cache.
  double nearly_all_of_class = 0.9;
  std::array<double, 2> late_parts = {0.5, 1.0 / 3};  // last parts of the time that are judged separately
  double rose_unfollowed_bytes = 1 << 20;
  double rose_unfollowed_share = 0.5;  // share of the value before the rise
  double hardly_ever_falls = 0.999;    // values that never fall have a higher confidence (kTauOfWalk)
  double much_explained = 0.5;         // share of the growth; below it, growth counts as hardly explained
  // Share of the fastest growth; slower growth may be its side effect, such as objects allocated with files.
  double least_beside = 0.2;

  // The kernel's memory for a recording appears as one step during its set-up.
  double recorders_jump = 0.8;         // minimum ratio of the step to the rise, and of the rise to the step
  double recorders_other_moves = 0.3;  // largest other change, as a share of the step
  // Share of the time; a linear interpolation over more time would look like steady growth.
  double longest_setup = 0.25;
  double seconds_to_end_recording = 0.5;  // seconds until the kernel has freed the memory of a recording

  // A recording covers everything that may grow, so these limits are lower than those for a finding; chosen.
  std::uint64_t fewest_samples_to_record = 3;
  double least_of_each_half = 0.15;  // minimum share of the rise in each half; otherwise the rise is a burst
  double confidence_to_record = 0.9;
  double even_enough_to_record = 0.999;  // for caches without samples; there are hundreds of them
};

inline constexpr Thresholds kThresholds;

}  // namespace kmt
