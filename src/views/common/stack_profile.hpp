// SPDX-License-Identifier: GPL-2.0-or-later
// A report by stack as profilers know it: samples of frames, each with what was allocated, what is live and so on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

// What is counted of a stack.
enum class StackMetric : std::uint8_t { hits, allocated, live_objects, live, wasted, peak };
constexpr std::size_t kStackMetrics = 6;

struct StackMetricInfo {
  StackMetric metric;
  std::string_view name;  // what --metric takes
  bool bytes;             // else a count
  bool adds_up;           // false: of several stacks together it is at most the sum
  std::string_view pprof_name;
  std::string_view meaning;
};
std::span<const StackMetricInfo> stack_metrics();
const StackMetricInfo& info_of(StackMetric metric);

struct ProfileFrame {
  std::string function;  // printable, as all texts here; without offset
  std::string file;      // empty: not known
  std::uint32_t line = 0;
  std::uint64_t address = 0;  // 0: none
  bool of_user = false;       // of a program: its function has the program or library behind it
  std::string object = {};    // that
  std::string build_id = {};  // its, in hex; empty: not known
};

struct StackSample {
  Allocator allocator = Allocator::slab;
  std::vector<std::uint32_t> frames;  // of StackProfile::frames, innermost first; the last one is the allocator
  std::string cache;                  // empty: not known
  std::string comm;
  std::array<std::uint64_t, kStackMetrics> values{};

  std::uint64_t value(StackMetric metric) const { return values[static_cast<std::size_t>(metric)]; }
};

struct StackProfile {
  TraceSummary trace;
  std::vector<ProfileFrame> frames;
  std::vector<StackSample> samples;
};

// What a report has to be grouped by for this; with caches and tasks of samples, too, where labels are wanted. Each
// group's peak is at a time of its own: the fewer groups, the nearer are the peaks of stacks to the truth. Without
// `by_stack` each call site is a stack of one frame, as in a trace that has no stacks.
enum class StackLabels { none, cache_and_task };
std::vector<GroupKey> stack_profile_keys(StackLabels labels, bool by_stack = true);
// Frames of the allocators and their wrappers are left out. Without a stack of the kernel it is the call site; of pages
// "pages of order N"; else "unknown". The outermost frame is "[slab]", "[pages]", "[percpu]" or "[vmalloc]": their
// bytes are never to be added.
StackProfile stack_profile_of(const ReportResult& report);

// The same stacks whatever cache and task they are of: equal frames are one sample, in the order of their first.
std::vector<StackSample> merged_stacks(const StackProfile& profile);

}  // namespace kmt
