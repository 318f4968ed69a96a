// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/stack_profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/frame_label.hpp"

namespace kmt {

namespace {

constexpr std::array<StackMetricInfo, kStackMetrics> kMetrics = {{
    {StackMetric::hits, "hits", false, true, "alloc_objects", "allocations"},
    {StackMetric::allocated, "allocated", true, true, "alloc_space", "bytes allocated"},
    {StackMetric::live_objects, "live-objects", false, true, "inuse_objects",
     "allocations not freed when the trace ends"},
    {StackMetric::live, "live", true, true, "inuse_space", "bytes not freed when the trace ends"},
    {StackMetric::wasted, "wasted", true, true, "wasted_space", "bytes allocated beyond the request, of slab objects"},
    {StackMetric::peak, "peak", true, false, "peak_space",
     "peak of live bytes of each stack; for several stacks, the sum is an upper bound"},
}};

class Maker {
 public:
  Maker(const std::vector<GroupKey>& keys, StackProfile& profile) : keys_(keys), profile_(profile) {}

  void add(const GroupRow& row) {
    StackSample sample;
    sample.allocator = row.allocator;
    add_frames(row, sample.frames);
    sample.frames.push_back(frame({fmt::format("[{}]", name_of(row.allocator)), {}, 0, 0}));
    if (const auto* const cache = key_of<std::string>(row, GroupKey::cache)) sample.cache = printable(*cache);
    if (const auto* const comm = key_of<std::string>(row, GroupKey::comm)) sample.comm = printable(*comm);
    const bool wastes = row.allocator == Allocator::slab && row.bytes_allocated > row.bytes_requested;
    sample.values = {row.allocations,
                     row.bytes_allocated,
                     row.live_allocations,
                     row.knows_bytes ? row.live_bytes : 0,
                     wastes ? row.bytes_allocated - row.bytes_requested : 0,
                     row.knows_bytes ? row.peak_bytes.value_or(0) : 0};
    profile_.samples.push_back(std::move(sample));
  }

 private:
  // Returns null if the report is not grouped by this key, or if the row has no value for the key.
  template <typename Value>
  const Value* key_of(const GroupRow& row, GroupKey key) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
    return at < row.keys.size() ? std::get_if<Value>(&row.keys[at]) : nullptr;
  }

  void add_frames(const GroupRow& row, std::vector<std::uint32_t>& frames) {
    static const std::vector<CodeAddress> kNone;
    const auto* const stack = key_of<std::vector<CodeAddress>>(row, GroupKey::stack);
    const std::vector<CodeAddress>& all = stack == nullptr ? kNone : *stack;
    // if the stack has no kernel frame, its call site is added as a frame
    if (all.empty() || !all.front().object.empty()) add_site(row, frames);
    for (const CodeAddress& code : relevant_frames(all)) add_code(code, frames);
  }

  void add_site(const GroupRow& row, std::vector<std::uint32_t>& frames) {
    if (const auto* const site = key_of<CodeAddress>(row, GroupKey::call_site); site && site->address != 0)
      add_code(*site, frames);
    else if (const auto* const order = key_of<std::uint64_t>(row, GroupKey::order))
      frames.push_back(frame({fmt::format("pages of order {}", *order), {}, 0, 0}));
    else
      frames.push_back(frame({"unknown", {}, 0, 0}));
  }

  // Adds a frame for each function that debug info reports as inlined at this address.
  void add_code(const CodeAddress& code, std::vector<std::uint32_t>& frames) {
    const std::string compiled = printable(frame_label(code));
    if (code.source.empty())
      return frames.push_back(frame(
          {compiled, {}, 0, code.address, !code.object.empty(), printable(code.object), printable(code.build_id)}));
    for (const SourceFrame& source : code.source)
      frames.push_back(frame({source.function.empty() ? compiled : printable(source.function), printable(source.file),
                              source.line, code.address}));
  }

  std::uint32_t frame(ProfileFrame frame) {
    const auto [at, is_new] = ids_.try_emplace({frame.address, frame.function, frame.build_id, frame.file, frame.line},
                                               profile_.frames.size());
    if (is_new) profile_.frames.push_back(std::move(frame));
    return static_cast<std::uint32_t>(at->second);
  }

  const std::vector<GroupKey>& keys_;
  StackProfile& profile_;
  std::map<std::tuple<std::uint64_t, std::string, std::string, std::string, std::uint32_t>, std::size_t> ids_;
};

}  // namespace

std::span<const StackMetricInfo> stack_metrics() { return kMetrics; }
const StackMetricInfo& info_of(StackMetric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }

std::vector<GroupKey> stack_profile_keys(StackLabels labels, bool by_stack) {
  std::vector<GroupKey> keys = {GroupKey::call_site, GroupKey::order};
  if (by_stack) keys.push_back(GroupKey::stack);
  if (labels == StackLabels::cache_and_task) keys.insert(keys.end(), {GroupKey::cache, GroupKey::comm});
  return keys;
}

StackProfile stack_profile_of(const ReportResult& report) {
  StackProfile profile;
  profile.trace = report.trace;
  Maker maker(report.by, profile);
  for (const GroupTable& table : report.groups)
    for (const GroupRow& row : table.rows) maker.add(row);
  return profile;
}

std::vector<StackSample> merged_stacks(const StackProfile& profile) {
  std::vector<StackSample> merged;
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  for (const StackSample& sample : profile.samples) {
    const auto [at, is_new] = known.try_emplace(sample.frames, merged.size());
    if (is_new) merged.push_back({sample.allocator, sample.frames, {}, {}, {}});
    for (std::size_t i = 0; i < kStackMetrics; ++i) merged[at->second].values[i] += sample.values[i];
  }
  return merged;
}

}  // namespace kmt
