// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a report by stack into the form profilers use: stacks of frames with values such as bytes allocated or live.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

// A value counted for each stack.
enum class StackMetric : std::uint8_t { hits, allocated, live_objects, live, wasted, peak };
constexpr std::size_t kStackMetrics = 6;

struct StackMetricInfo {
  StackMetric metric;
  std::string_view name;  // as in --metric
  bool bytes;             // otherwise a count
  bool adds_up;           // false: the sum over several stacks is only an upper bound
  std::string_view pprof_name;
  std::string_view meaning;
};
std::span<const StackMetricInfo> stack_metrics();
const StackMetricInfo& info_of(StackMetric metric);

struct ProfileFrame {
  std::string function;  // without offset; printable, like all strings here
  std::string file;      // empty: unknown
  std::uint32_t line = 0;
  std::uint64_t address = 0;  // 0: none
  bool of_user = false;       // a frame of a program: `function` includes the program or library
  std::string object = {};    // program or library
  std::string build_id = {};  // build ID of `object`, in hex; empty: unknown
};

struct StackSample {
  Allocator allocator = Allocator::slab;
  // Indexes into StackProfile::frames, innermost first; the last one is the allocator.
  std::vector<std::uint32_t> frames;
  std::string cache;  // empty: unknown
  std::string comm;
  std::array<std::uint64_t, kStackMetrics> values{};

  std::uint64_t value(StackMetric metric) const { return values[static_cast<std::size_t>(metric)]; }
};

struct StackProfile {
  TraceSummary trace;
  std::vector<ProfileFrame> frames;
  std::vector<StackSample> samples;
};

// The keys a report must be grouped by; `labels` adds cache and task. Groups reach their peaks at different times, so
// peaks of stacks are more accurate with fewer groups. Without `by_stack`, each call site is a stack of one frame.
enum class StackLabels { none, cache_and_task };
std::vector<GroupKey> stack_profile_keys(StackLabels labels, bool by_stack = true);
// Leaves out frames of the allocators and their wrappers. A sample without a kernel stack has one frame: the call site,
// "pages of order N", or "unknown". The outermost frame is "[slab]", "[pages]", "[percpu]" or "[vmalloc]". Never add
// bytes of different allocators, since slabs are made of pages.
StackProfile stack_profile_of(const ReportResult& report);

// Merges samples with equal frames, even if their caches or tasks differ. Keeps the order of first appearance.
std::vector<StackSample> merged_stacks(const StackProfile& profile);

}  // namespace kmt
