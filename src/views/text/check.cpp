// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/check.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/findings.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kExamples = 3;

bool has_findings(const Findings& findings) {
  for (std::size_t i = 0; i < kImperfections.size(); ++i)
    if (findings.count_of(static_cast<Imperfection>(i)) > 0) return true;
  return false;
}

}  // namespace

std::string text_check(const CheckResult& result, const TextStyle& style) {
  const TraceSummary& trace = result.trace;
  const std::string verdict =
      result.sound ? emphasised("sound", Emphasis::good, style) : emphasised("NOT SOUND", Emphasis::bad, style);
  std::string out = fmt::format("{}: {}{}\n", emphasised(printable(trace.path), Emphasis::heading, style), verdict,
                                trace.complete ? "" : " as far as the file was read: Ctrl+C interrupted reading");
  if (!trace.format.empty()) out += labelled("format", printable(trace.format), style);
  out += machine_lines(trace, style);
  out += labelled("events", say_count(trace.events, style), style);
  if (trace.lost_events > 0) out += lost_line(trace, style);
  if (has_findings(result.findings)) out += "\n" + finding_lines(result.findings, kExamples, style);
  return out + "\n";
}

}  // namespace kmt
