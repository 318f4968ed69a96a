// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/description.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

// Adds a finding if the attribute is a tracepoint and only some of its events were recorded.
void report_sampling(const Attribute& attribute, Findings& findings) {
  if (attribute.type != kTypeTracepoint || (!attribute.is_frequency && attribute.period <= 1)) return;
  findings.add(
      {Imperfection::sampled_events, fmt::format("{}: {}", printable(attribute.name),
                                                 attribute.is_frequency ? fmt::format("{} per second", attribute.period)
                                                                        : fmt::format("one of {}", attribute.period))});
}

std::string names_of(const std::vector<Attribute>& attributes) {
  constexpr std::size_t kMostNames = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(attributes.size(), kMostNames); ++i)
    names += (i == 0 ? "" : ", ") + printable(name_of(attributes[i]));
  return attributes.size() > kMostNames ? names + ", …" : names;
}

}  // namespace

bool has_no_tracepoints(const FileContents& contents) {
  const std::vector<Attribute>& attributes = contents.attributes.all();
  return !attributes.empty() &&
         std::ranges::none_of(attributes, [](const Attribute& one) { return one.type == kTypeTracepoint; });
}

void describe(FileContents& contents, TraceInfo& info) {
  info.format = contents.is_pipe ? "perf.data, pipe mode" : "perf.data";
  info.recording.buffers = {""};
  KernelDescription& kernel = contents.description.kernel;
  const std::vector<Attribute>& attributes = contents.attributes.all();
  kernel.clock = clock_name(attributes.empty() ? std::nullopt : attributes.front().clock);
  if (has_no_tracepoints(contents))
    info.findings.add({Imperfection::no_memory_events, names_of(attributes)});
  else if (kernel.header_page.empty())
    info.findings.add({Imperfection::missing_section,
                       contents.is_pipe
                           ? "tracing data, which describes events: in a pipe, perf writes it before the events"
                           : "tracing data, which describes events: perf writes it when a recording ends"});
  if (attributes.empty()) info.findings.add({Imperfection::missing_section, "attributes of events"});
  describe_machine(contents.description, info);
  for (const Attribute& attribute : attributes) report_sampling(attribute, info.findings);
}

}  // namespace kmt::perfdata
