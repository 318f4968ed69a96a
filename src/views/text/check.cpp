// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/check.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/shell_word.hpp"
#include "views/text/findings.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kExamples = 3;

std::string_view text_of(AffectedNumbers numbers) {
  switch (numbers) {
    case AffectedNumbers::totals: return "totals, and with them all other numbers";
    case AffectedNumbers::live: return "live memory and pairs of allocation and free";
    case AffectedNumbers::lifetimes: return "lifetimes";
    case AffectedNumbers::times: return "times and rates";
    case AffectedNumbers::groups: return "the assignment to groups";
    case AffectedNumbers::nothing: break;
  }
  return "nothing";
}

// Returns the number and the kind of the findings that affect `numbers`: "134,508 lost_events".
std::string causes_of(AffectedNumbers numbers, const Findings& findings, const TextStyle& style) {
  std::string causes;
  for (std::size_t i = 0; i < kImperfections.size(); ++i) {
    const auto kind = static_cast<Imperfection>(i);
    if (findings.count_of(kind) > 0 && affected_by(kind) == numbers)
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", say_count(findings.count_of(kind), style),
                            describe(kind).id);
  }
  return causes;
}

// Returns lines that state which reported numbers are affected, by how much, and what to do.
std::string conclusion(const CheckResult& result, const TextStyle& style) {
  const TraceSummary& trace = result.trace;
  const std::uint64_t lost = trace.lost_events;
  std::string out;
  for (const AffectedNumbers numbers : result.affected)
    out += labelled("affected", fmt::format("{} ({})", text_of(numbers), causes_of(numbers, result.findings, style)),
                    style);
  if (lost > 0)
    out += labelled("share",
                    fmt::format("{}{} of all events are lost", trace.lost_at_least ? "at least " : "",
                                say_share(lost, lost + trace.events)),
                    style);
  if (result.maybe_freed.allocations > 0)
    out += labelled("affected",
                    fmt::format("{}live counts that reports mark with <= as upper bounds: {} of {} ({} of {}) may be "
                                "freed without an event",
                                result.sound ? "only " : "", say_count(result.maybe_freed.allocations, style),
                                say_number_of(result.live.allocations, "live object", style),
                                say_bytes(result.maybe_freed.bytes, style), say_bytes(result.live.bytes, style)),
                    style);
  else if (result.sound && trace.complete)
    out += labelled("affected", "nothing: all events were recorded, and no total is uncertain", style);
  const std::string next = result.sound ? fmt::format("kmemtrace report {}", printable(shell_word(trace.path)))
                           : lost > 0   ? "record again with larger buffers (-b) or fewer events (-e, --filter)"
                                        : "see the findings below; docs/imperfections.md has advice on each";
  return out + labelled("next", next, style);
}

}  // namespace

std::string text_check(const CheckResult& result, const TextStyle& style) {
  const TraceSummary& trace = result.trace;
  const std::string verdict =
      result.sound ? emphasised("sound", Emphasis::good, style) : emphasised("NOT SOUND", Emphasis::bad, style);
  std::string out = fmt::format("{}: {}{}\n", emphasised(printable(trace.path), Emphasis::heading, style), verdict,
                                trace.complete ? "" : " as far as the file was read: Ctrl+C interrupted reading");
  out += conclusion(result, style);
  out += explained_line(result.explained, {}, style);
  if (!trace.format.empty()) out += labelled("format", printable(trace.format), style);
  out += machine_lines(trace, style);
  out += labelled("events", say_count(trace.events, style), style);
  if (trace.lost_events > 0) out += lost_line(trace, style);
  const std::string findings = finding_lines(result.findings, kExamples, style, result.explained);
  return out + (findings.empty() ? "" : "\n" + findings) + "\n";
}

}  // namespace kmt
