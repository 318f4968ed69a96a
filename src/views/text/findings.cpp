// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/findings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

struct Counted {
  Imperfection kind;
  std::uint64_t count;
};

using Counts = std::array<std::uint64_t, kImperfections.size()>;

Counts counts_of(const Findings& findings) {
  Counts counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = findings.count_of(static_cast<Imperfection>(i));
  return counts;
}

void leave_out(const ExplainedAnomalies& explained, Counts& counts) {
  const auto subtract = [&counts](Imperfection kind, std::uint64_t count) {
    std::uint64_t& of_kind = counts[static_cast<std::size_t>(kind)];
    of_kind -= std::min(of_kind, count);
  };
  subtract(Imperfection::allocated_before_trace, explained.older_frees);
  subtract(Imperfection::allocation_on_live_pointer, explained.untraced_frees);
  subtract(Imperfection::double_free_or_untraced_allocation, explained.untraced_allocations);
}

bool lacks_cpus(Imperfection kind) { return kind == Imperfection::missing_cpu || kind == Imperfection::some_cpus; }

// Sorts findings by severity, worst first. Findings of equal severity have the order of kImperfections. Missing CPUs
// come first, because they make all other findings uncertain.
std::vector<Counted> worst_first(const Counts& counts) {
  std::vector<Counted> list;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) list.push_back({static_cast<Imperfection>(i), counts[i]});
  std::stable_sort(list.begin(), list.end(), [](const Counted& a, const Counted& b) {
    const bool first = lacks_cpus(a.kind);
    const bool second = lacks_cpus(b.kind);
    return first != second ? first : describe(a.kind).severity > describe(b.kind).severity;
  });
  return list;
}

Emphasis emphasis_of(Severity severity) {
  switch (severity) {
    case Severity::info: return Emphasis::aside;
    case Severity::uncertain: return Emphasis::warning;
    case Severity::loss:
    case Severity::error: break;
  }
  return Emphasis::bad;
}

// Colours the first `length` bytes of the text.
std::string with_coloured_start(const std::string& text, std::size_t length, Severity severity,
                                const TextStyle& style) {
  return emphasised(text.substr(0, length), emphasis_of(severity), style) + text.substr(length);
}

std::size_t widest_count(const std::vector<Counted>& list, const TextStyle& style) {
  std::size_t widest = 0;
  for (const Counted& counted : list) widest = std::max(widest, say_count(counted.count, style).size());
  return widest;
}

std::string place_of(const Finding& finding) {
  std::string text;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (finding.cpu) append(fmt::format("cpu {}", *finding.cpu));
  if (finding.offset) append(fmt::format("offset {:#x}", *finding.offset));
  if (finding.time_ns) append(fmt::format("at {}", say_seconds(*finding.time_ns)));
  if (!finding.detail.empty()) text += (text.empty() ? "" : ": ") + printable(finding.detail);
  return text;
}

// Returns lines with the first places in the trace at which there is a finding of this kind.
std::string first_places(const Findings& findings, Imperfection kind, std::size_t most, std::size_t indent,
                         const TextStyle& style) {
  std::string out;
  std::size_t places = 0;
  for (const Finding& finding : findings.kept()) {
    if (finding.kind != kind || place_of(finding).empty()) continue;
    if (++places <= most) out += hanging(std::string(indent, ' ') + "- ", place_of(finding), style);
  }
  if (places <= most) return out;
  const std::string more = fmt::format("{:{}}  … --json shows the first {}", "", indent, places);
  return out + emphasised(more, Emphasis::aside, style) + "\n";
}

// Returns ": DETAIL" for a finding that has no place in the trace, such as a note about the symbols used.
std::string only_detail(const Findings& findings, Imperfection kind) {
  for (const Finding& finding : findings.kept())
    if (finding.kind == kind && !finding.cpu && !finding.offset && !finding.time_ns && !finding.detail.empty())
      return ": " + printable(finding.detail);
  return {};
}

// True if each finding of this kind is about a different file. The detail of the finding names the file.
bool is_of_a_file(Imperfection kind) {
  return kind == Imperfection::no_user_symbols || kind == Imperfection::no_user_build_ids;
}

// Returns the first file names: ": a, b, c and 2 more".
std::string some_details(const Findings& findings, Imperfection kind) {
  constexpr std::uint64_t kMost = 3;
  std::string text;
  std::uint64_t named = 0;
  for (const Finding& finding : findings.kept())
    if (finding.kind == kind && !finding.detail.empty() && named < kMost)
      text += fmt::format("{}{}", named++ == 0 ? ": " : ", ", printable(finding.detail));
  if (const std::uint64_t count = findings.count_of(kind); named > 0 && count > named)
    text += fmt::format(" and {} more", count - named);
  return text;
}

}  // namespace

std::string anomaly_section(const std::vector<std::pair<std::string, std::uint64_t>>& anomalies,
                            const Findings& findings, bool lossy, const TextStyle& style,
                            const ExplainedAnomalies& explained) {
  Counts counts = counts_of(findings);
  for (const auto& [name, count] : anomalies)
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (kImperfections[i].id == name) counts[i] += count;
  counts[static_cast<std::size_t>(Imperfection::lost_events)] = 0;
  leave_out(explained, counts);
  const std::vector<Counted> list = worst_first(counts);
  const std::size_t width = widest_count(list, style);
  std::string out;
  for (const auto& [kind, count] : list) {
    const std::string first = fmt::format("  {:>{}}  ", say_count(count, style), width);
    std::string text(describe(kind).sentence);
    text += is_of_a_file(kind) ? some_details(findings, kind) : count == 1 ? only_detail(findings, kind) : "";
    out += with_coloured_start(hanging(first, text, style), first.size(), describe(kind).severity, style);
    if (kind == Imperfection::unreadable_line) out += first_places(findings, kind, 3, first.size(), style);
  }
  if (out.empty()) return out;
  if (lossy && !anomalies.empty())
    out += emphasised(
        hanging("  ",
                "Events may be missing: if an event between an allocation and a free is missing, the pair looks wrong.",
                style),
        Emphasis::aside, style);
  return "\n" + heading("Anomalies", style) + out;
}

std::string explained_line(const ExplainedAnomalies& explained, const LiveCount& maybe_freed, const TextStyle& style) {
  std::string parts;
  const auto add = [&](std::uint64_t count, std::string_view text) {
    if (count > 0) parts += fmt::format("{}{} ({})", parts.empty() ? "" : ", ", text, say_count(count, style));
  };
  add(explained.older_frees, "frees of objects from before the trace");
  add(explained.untraced_frees, "addresses reused after a free without an event");
  add(explained.untraced_allocations, "frees after an allocation without an event");
  add(explained.recorder_frees, "frees of the recorder's own memory");
  std::string text;
  if (!parts.empty())
    text = fmt::format("{} of allocations and frees pair with an event that is not in the trace: {}.",
                       say_share(explained.sum(), explained.events), parts);
  if (maybe_freed.allocations > 0)
    text += fmt::format("{}{} live objects ({}) may be freed without an event: live counts marked <= are upper bounds.",
                        text.empty() ? "" : " ", say_count(maybe_freed.allocations, style),
                        say_bytes(maybe_freed.bytes, style));
  return text.empty() ? text : labelled("explained", text, style);
}

std::string finding_lines(const Findings& findings, std::size_t examples, const TextStyle& style,
                          const ExplainedAnomalies& explained) {
  constexpr std::size_t kSeverityWidth = 9;
  Counts counts = counts_of(findings);
  leave_out(explained, counts);
  const std::vector<Counted> list = worst_first(counts);
  const std::size_t width = widest_count(list, style);
  std::string out;
  for (const auto& [kind, count] : list) {
    const ImperfectionText& text = describe(kind);
    const std::string first =
        fmt::format("  {:<{}}  {:>{}}  ", to_string(text.severity), kSeverityWidth, say_count(count, style), width);
    out += with_coloured_start(hanging(first, text.sentence, style), first.size(), text.severity, style);
    out += first_places(findings, kind, examples, first.size(), style);
  }
  return out;
}

}  // namespace kmt
