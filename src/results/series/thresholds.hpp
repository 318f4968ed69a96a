// SPDX-License-Identifier: GPL-2.0-or-later
// All thresholds by which reports, series of snapshots, the fleet and `investigate` decide whether memory grows. Values
// marked "chosen" were chosen by judgement, not measured. The unit tests of analysis/growth check them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kmt {

struct Thresholds {
  // The next three limits apply to all verdicts.

  // Required confidence, one-sided. Series are compared with random walks (analysis/series/trend.hpp), not with
  // independent noise.
  double confidence = 0.95;
  double usual_bytes_per_s = 64 * 1024 / 60.0;  // 64 KiB per minute, which is 92 MiB per day; chosen
  double least_seconds = 1;                     // seconds; in a shorter time, one burst of allocations looks like
                                                // growth; chosen

  // The fleet uses neither a threshold nor a test: it counts any rise as growth, because users look for slow growth on
  // many hosts. For each group, the fleet counts the hosts on which the group grows.

  // `leaks` and the fleet doubt a group if at least one in this number of its frees was not traced. With fewer untraced
  // frees, these may be errors of the recording. `leaks` and the fleet use exact recordings only. Chosen by judgement.
  std::uint64_t frees_per_unseen = 100;
  // Limits for objects of kinds that live longer than the recording. Growth is only apparent if old objects are freed
  // as fast as new ones are allocated. This is assumed if, in each third of the time, the frees of older objects are at
  // least `pace_of_older` times the allocations that are still live. If the cache of allocation and free events is
  // unknown, only frees by a function with a similar name count. In this case, the numbers of frees and allocations
  // must differ by less than the share `same_pace`. There must also be at least `fewest_births` allocations. Chosen by
  // judgement.
  double pace_of_older = 0.5;
  double same_pace = 0.25;
  std::uint64_t fewest_births = 20;

  // Maximum size of page tables as a share of user memory. If page tables are not larger, user memory explains their
  // growth. When processes start, their page tables are a tenth of their memory. Chosen by judgement.
  double most_page_tables = 0.5;
  // In bytes. A process may need this many page tables for itself and for each task that it created. New children have
  // page tables of their own, but still share its user memory. Only larger page tables are judged. Chosen by
  // judgement.
  std::uint64_t page_tables_of_task = 1 << 20;

  // Objects per untraced free. `investigate` checks the tasks of each name separately, because untraced frees by
  // another task must not hide growth. In a recording, a group is trusted if its live objects are at least 4 times its
  // untraced frees. In samples, a place (task name, cache and stack) is dropped if it has at least two untraced frees
  // and at most 4 other objects for each of them. One untraced free may be a missed event, and most objects of a leak
  // stay live. Chosen by judgement.
  std::uint64_t held_per_unseen = 4;
  std::uint64_t samples_per_unseen = 4;
  std::uint64_t fewest_unseen_samples = 2;

  // Growth has stopped if the rise in the last quarter is less than a tenth of what steady growth would add in this
  // time. In traces, the rate of allocations in this quarter must also be at least half the former rate
  // (`pace_of_older`). Otherwise, growth may have stopped only because the program's work ended. Chosen by judgement.
  double stopped_part = 0.25;
  double stopped_share = 0.1;

  // Memory that is allocated in bursts rises in steps. Such growth is unsure. It must have at least `fewest_steps`
  // steps, and a group of `leaks` at least `fewest_allocations_in_steps` live allocations: fewer may just be programs
  // that start. Between the steps, the value must change by at most the share `noise_between_steps` of the whole rise.
  // The smallest step must have at least the share `least_of_largest_step` of the largest. Chosen by judgement.
  std::size_t fewest_steps = 3;
  std::uint64_t fewest_allocations_in_steps = 60;
  double noise_between_steps = 0.05;
  double least_of_largest_step = 0.5;

  // The limits from here on are only for `investigate`, which tests thousands of groups within minutes. `leaks` and the
  // fleet also show small groups.

  // In bytes. A smaller rise (two samples at the default distance, or four pages) is not a leak. Chosen by judgement.
  double least_rise = 16 << 10;
  // growth needs no second source if its p-value is at most this share of the required p-value; chosen
  double highly_significant_share = 0.01;
  // In seconds. In a shorter time, counters have fewer than 16 values, and there are too few samples. Chosen by
  // judgement.
  double shortest_watch = 10;
  // Minimum length of a recording, as a share of the observed time. In a shorter recording, long-lived memory looks
  // like growth. Chosen by judgement.
  double shortest_recording = 0.1;
  double shortest_recording_seconds = 1;  // seconds; minimum length of a recording, even if there are no samples
  // Share of the observed time; if allocations were observed for less, observation ended early; chosen.
  double ended_early = 0.9;

  // Share of the requested time; if less was observed, growth cannot be ruled out; chosen.
  double least_covered = 0.5;

  // A cache is compared with the findings that allocate from it. Their rates agree only roughly, because other objects
  // share the slabs. Chosen by judgement.
  double enough_of_rate = 0.4;  // minimum growth of a cache that confirms a finding, as a share of the finding's rate
  // A cache contradicts a finding if the whole confidence interval of its growth is below this share of the finding's
  // rate.
  double too_slow = 0.8;
  // Two copied files agree with a finding if the growth between them, divided by the finding's growth, is between these
  // factors.
  double differs_least = 0.5;
  double differs_most = 2;
  double good_part = 0.3;      // minimum share of a finding's bytes that must be in a cache with confirmed growth
  double most_of_cache = 0.5;  // minimum share of a cache's live memory that a cluster must have to be its cause
  double nearly_all_of_cache = 0.9;
  double share_of_cause = 0.1;  // caches with a smaller share of a finding's bytes are left out
  // A finding is named after a function that is in the stacks of at least this share of its bytes.
  double common_function = 0.9;

  // Limits for few samples. Within 15 s, half of the samples of a small leak may be missing by chance, which halves its
  // measured rate. The share of a cache's samples that belong to the leak varies in the same way. The measured rate may
  // therefore be only a quarter of the real one.
  std::uint64_t fewest_samples = 5;
  std::uint64_t fewest_if_nearly_all = 3;
  // If a leak has this number of samples, `investigate` nearly always finds it. The number of samples then varies by
  // only a fifth from one investigation to the next.
  double samples_nearly_always_found = 25;
  double even_enough = 0.99;  // minimum evenness (0 to 1), to exclude memory that was allocated all at once
  double least_of_rate = 0.25;

  // Samples from before a recording show whether growth had begun by then. If 8 samples are expected, a Poisson count
  // is at most 0.3 times as large in only 0.5 % of all cases.
  double fewest_expected = 8;
  double least_share_of_expected = 0.3;

  // The limits for the kernel's counters were chosen on busy machines with compilers and test leaks.

  // If one cache has at least this share of the rise of all kmalloc caches of its size, the other caches hardly blur
  // the rise of this cache.
  double nearly_all_of_class = 0.9;
  // The last half and the last third of the time are tested for growth separately.
  std::array<double, 2> late_parts = {0.5, 1.0 / 3};
  double rose_unfollowed_bytes = 1 << 20;
  double rose_unfollowed_share = 0.5;  // minimum rise, as a share of the value before the rise
  double hardly_ever_falls = 0.999;    // minimum confidence; values that never fall reach it (see kTauOfWalk)
  // In bytes. The verdict mentions a rise of Shmem only if it is at least this large. Chosen by judgement.
  double much_shared_memory = 32 << 20;
  // If findings explain less than this share of a counter's growth, the growth counts as unexplained.
  double much_explained = 0.5;
  // Minimum rate of further states to report, as a share of the fastest growth. Slower growth may be a side effect of
  // the fastest growth, such as small objects that are allocated with files.
  double least_beside = 0.2;

  // A process is new if it started during the observation and still runs at its end. A new process is settled if,
  // halfway between its first allocation and the end, it had the share `settled_share` of its final bytes. A finding is
  // not a leak if at least this number of settled processes holds half of its bytes, and none of them holds more than
  // the share `most_of_one_process`. Chosen by judgement.
  std::size_t fewest_new_processes = 8;
  double most_of_one_process = 0.25;
  double settled_share = 0.8;

  // The memory that the kernel allocates for a recording appears as one step while the recording is set up. The step
  // and the whole rise may differ: the smaller of the two is at least this share of the larger one.
  double recorders_jump = 0.8;
  double recorders_other_moves = 0.3;  // maximum size of any other change, as a share of the step
  // Maximum length of the set-up, as a share of the time. An interpolation over a longer time would look like steady
  // growth.
  double longest_setup = 0.25;
  // In seconds. Within this time, the kernel frees the memory of a recording that has ended.
  double seconds_to_end_recording = 0.5;

  // Limits for what a recording covers. A recording covers everything that may grow, so these limits are lower than
  // those for a finding. Chosen by judgement.
  std::uint64_t fewest_samples_to_record = 3;
  // Minimum share of the rise in each half of the time; otherwise the rise is a burst.
  double least_of_each_half = 0.15;
  double confidence_to_record = 0.9;
  // Minimum evenness for caches without samples, because there are hundreds of them.
  double even_enough_to_record = 0.999;
};

inline constexpr Thresholds kThresholds;

}  // namespace kmt
