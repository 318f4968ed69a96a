// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/trace_summary.hpp"

namespace kmt {

TraceSummary summarize(const TraceInfo& info) {
  TraceSummary summary;
  summary.path = info.path;
  summary.format = info.format;
  summary.kernel = info.kernel;
  summary.arch = info.arch;
  summary.byte_order = info.byte_order;
  summary.word_bits = info.word_bits;
  summary.page_size = info.page_size;
  summary.cpus = info.cpus;
  summary.clock = info.clock;
  summary.clock_in_ns = info.clock_in_ns;
  summary.buffers = info.buffers;
  const auto note = [&info](const char* name) {
    const auto found = info.notes.find(name);
    return found == info.notes.end() ? std::string() : found->second;
  };
  summary.recorded_at = note("recorded_at");
  summary.recorder_arguments = note("arguments");
  summary.lost_per_cpu = lost_events_per_cpu(info);
  summary.stacks = info.stacks.size() - 1;
  summary.lost_events = total_lost_events(info);
  for (const Imperfection kind : {Imperfection::unknown_loss, Imperfection::damaged_block, Imperfection::damaged_page,
                                  Imperfection::truncated_file})
    if (info.findings.count_of(kind) > 0) summary.loss_known = false;
  return summary;
}

Findings findings_of(const TraceInfo& info) {
  Findings findings = info.findings;
  const std::uint64_t known =
      findings.count_of(Imperfection::lost_events) + findings.count_of(Imperfection::interrupted_recording);
  const std::uint64_t lost = total_lost_events(info);
  if (lost > known) findings.count(Imperfection::lost_events, lost - known);
  return findings;
}

void EventSpan::store_in(TraceSummary& summary) const {
  summary.first_ns = first_ns;
  summary.duration_ns = last_ns - first_ns;
  summary.events = events;
}

}  // namespace kmt
