// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a report by stack to the data model of profilers: stacks of frames, each with values such as allocated or
// live bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

// The values that each stack has.
enum class StackMetric : std::uint8_t { hits, allocated, live_objects, live, wasted, peak };
constexpr std::size_t kStackMetrics = 6;

struct StackMetricInfo {
  StackMetric metric;
  std::string_view name;  // name for the option --metric
  bool bytes;             // true: the unit is bytes; false: the value is a count
  bool adds_up;           // false: adding the values of several stacks gives only an upper bound
  std::string_view pprof_name;
  std::string_view meaning;
};
std::span<const StackMetricInfo> stack_metrics();
const StackMetricInfo& info_of(StackMetric metric);

struct ProfileFrame {
  std::string function;  // function name without an offset; all strings in this structure are printable
  std::string file;      // empty: unknown
  std::uint32_t line = 0;
  std::uint64_t address = 0;  // 0: the frame has no address
  bool of_user = false;       // true: a function of a program, and `function` also names the program or library
  std::string object = {};    // path of the program or library
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

enum class StackLabels { none, cache_and_task };
// Returns the keys by which a report must be grouped for a profile. `labels` adds cache and task. With fewer groups,
// the peaks of stacks are more accurate, because groups reach their peaks at different times. Without `by_stack`, each
// call site is a stack of one frame.
std::vector<GroupKey> stack_profile_keys(StackLabels labels, bool by_stack = true);
// Converts the report. Frames of the allocators and of their wrappers are left out. A sample without a kernel stack has
// one frame: the call site, "pages of order N", or "unknown". The outermost frame is "[slab]", "[pages]", "[percpu]" or
// "[vmalloc]". Never add bytes of different allocators, because slabs are made of pages.
StackProfile stack_profile_of(const ReportResult& report);

// Merges samples with equal frames, even if they have different caches or tasks. Keeps the order in which the stacks
// first appear.
std::vector<StackSample> merged_stacks(const StackProfile& profile);

}  // namespace kmt
