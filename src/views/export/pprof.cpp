// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "views/common/export_stacks.hpp"
#include "views/export/pprof_writer.hpp"

namespace kmt {

namespace {

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

std::string pprof_export(const StackProfile& profile) {
  PprofWriter writer;
  for (const StackMetricInfo& metric : stack_metrics())
    if (metric.adds_up) writer.sample_type(metric.pprof_name, metric.bytes ? "bytes" : "count");
  std::vector<std::uint64_t> locations;
  for (const ProfileFrame& frame : profile.frames) {
    const std::uint64_t mapping =
        frame.of_user ? writer.mapping(frame.object, frame.build_id) : PprofWriter::kKernelMapping;
    locations.push_back(writer.location(frame.address, frame.function, frame.file, frame.line, mapping));
  }
  for (const StackSample& sample : profile.samples) {
    std::vector<std::uint64_t> stack;
    for (const std::uint32_t frame : sample.frames) stack.push_back(locations[frame]);
    std::vector<std::int64_t> values;
    for (const StackMetricInfo& metric : stack_metrics())
      if (metric.adds_up) values.push_back(number(sample.value(metric.metric)));
    writer.sample(stack, values,
                  {{PprofWriter::kAllocator, name_of(sample.allocator)},
                   {PprofWriter::kCache, sample.cache},
                   {PprofWriter::kComm, sample.comm}});
  }
  const TraceSummary& trace = profile.trace;
  std::vector<std::string> comments = {"kernel " + trace.kernel};
  if (trace.lost_events > 0) comments.push_back(fmt::format("lost events: {}", trace.lost_events));
  if (!trace.complete) comments.emplace_back("reading was interrupted: covers only a part of the trace");
  writer.comments(comments);
  writer.time(0, trace.clock_in_ns ? number(trace.recorded_ns) : 0);
  writer.default_sample_type(info_of(StackMetric::allocated).pprof_name);
  return writer.finish();
}

}  // namespace kmt
