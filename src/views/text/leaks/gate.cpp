// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/leaks/gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/xml.hpp"
#include "views/text/leaks/rows.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

std::string_view memory_of(Allocator allocator) {
  switch (allocator) {
    case Allocator::slab: return "slab objects";
    case Allocator::percpu: return "percpu memory";
    case Allocator::vmap: return "vmalloc areas";
    case Allocator::pages: break;
  }
  return "pages";
}

std::string sentence_of(const GateCheck& check, std::uint64_t limit, const TextStyle& style) {
  const std::string most = say_bytes(limit, style);
  const std::string live = say_bytes(check.bytes, style);
  switch (check.verdict) {
    case GateVerdict::failed: return fmt::format("{} stayed allocated, more than {}.", live, most);
    case GateVerdict::unclear:
      return fmt::format(
          "{} stayed allocated, and the trace may lack the frees of {} more. Together, this is more "
          "than {}.",
          live, say_bytes(check.missing_bytes, style), most);
    case GateVerdict::passed: break;
  }
  return fmt::format("{} stayed allocated, at most {} are allowed.", live, most);
}

std::string_view sentence_of(GateGap gap) {
  switch (gap) {
    case GateGap::none: return "The trace has all events.";
    case GateGap::no_events: return "The trace has no events, or no event is selected.";
    case GateGap::lost_events: return "The recording lost events, so allocations may be missing.";
    case GateGap::missing_part: return "A part of the trace is missing, so allocations may be missing.";
    case GateGap::interrupted: break;
  }
  return "The trace was not read to its end.";
}

}  // namespace

std::string gate_lines(const GrowthGate& gate, const LeaksResult& result, const TextStyle& style) {
  std::string out =
      gate.gap == GateGap::none ? "" : hanging("Limit unclear: ", std::string(sentence_of(gate.gap)), style);
  std::uint64_t most = 0;
  std::uint64_t untraced = 0;
  for (const GateCheck& check : gate.checks) {
    most = std::max(most, check.bytes);
    untraced = std::max(untraced, check.untraced_bytes);
    if (check.verdict == GateVerdict::passed) continue;
    std::string text = fmt::format("{}: {}", memory_of(check.allocator), sentence_of(check, gate.limit, style));
    const char* lead = " Largest: ";
    for (const LeakRow* const row : check.largest) {
      text += fmt::format("{}{} with {}", lead, name_of_leak(*row, result.by, style),
                          say_bytes(row->certain_bytes(), style));
      lead = ", ";
    }
    out += hanging(check.verdict == GateVerdict::failed ? "Limit exceeded: " : "Limit unclear: ", text, style);
  }
  if (out.empty() && gate.verdict() == GateVerdict::unclear)
    out = hanging("Limit unclear: ",
                  fmt::format("{} of live memory in small groups was not followed. Form fewer groups with --by.",
                              say_bytes(gate.bytes_not_followed, style)),
                  style);
  if (out.empty())
    out = hanging("Within the limit: ",
                  fmt::format("{} of one allocator certainly stayed allocated; the limit is {}.",
                              say_bytes(most, style), say_bytes(gate.limit, style)),
                  style);
  if (untraced > 0)
    out += hanging(
        "Not compared: ",
        fmt::format("up to {} more that the kernel may have freed without an event.", say_bytes(untraced, style)),
        style);
  return out;
}

std::string junit_gate(const GrowthGate& gate, const LeaksResult& result) {
  const TextStyle plain;
  const double seconds = static_cast<double>(result.trace.recorded_ns) / 1e9;
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  const auto add = [&](std::string_view name, GateVerdict verdict, const std::string& message,
                       const std::string& details) {
    ++tests;
    cases +=
        fmt::format("    <testcase classname=\"kmemtrace.leaks\" name=\"{}\" time=\"{:.3f}\"", xml_text(name), seconds);
    if (verdict == GateVerdict::passed) {
      cases += "/>\n";
      return;
    }
    const bool fails = verdict == GateVerdict::failed;
    ++(fails ? failures : errors);
    cases += fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n    </testcase>\n",
                         fails ? "failure" : "error", fails ? "growth" : "missing-events", xml_text(message),
                         xml_text(details));
  };
  if (gate.gap != GateGap::none) add("events", GateVerdict::unclear, std::string(sentence_of(gate.gap)), "");
  for (const GateCheck& check : gate.checks) {
    std::string details;
    for (const LeakRow* const row : check.largest)
      details +=
          fmt::format("{} in {}\n", say_bytes(row->certain_bytes(), plain), name_of_leak(*row, result.by, plain));
    add(memory_of(check.allocator), check.verdict, sentence_of(check, gate.limit, plain), details);
  }
  if (errors + failures == 0 && gate.verdict() == GateVerdict::unclear)
    add("small groups", GateVerdict::unclear, "Live memory in small groups was not followed.", "");
  if (tests == 0) add("memory", GateVerdict::passed, "", "");  // some CI servers refuse a suite without tests
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", tests, failures, errors, seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kmemtrace leaks\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n{2}  </testsuite>\n</testsuites>\n",
      counts, xml_text(printable(result.trace.path)), cases);
}

}  // namespace kmt
