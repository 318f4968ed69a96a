// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/imperfections.hpp"

#include "base/number.hpp"

namespace kmt {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::uncertain: return "uncertain";
    case Severity::loss: return "loss";
    case Severity::error: return "error";
  }
  return "";
}

void Findings::add(Finding finding, std::uint64_t count) {
  const auto index = static_cast<std::size_t>(finding.kind);
  counts_[index] = sum_of_counts(counts_[index], count);
  if (kept_of_[index] >= kKeptOfAKind) return;
  ++kept_of_[index];
  kept_.push_back(std::move(finding));
}

void Findings::merge(const Findings& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] = sum_of_counts(counts_[i], other.counts_[i]);
  for (const Finding& finding : other.kept_) {
    const auto index = static_cast<std::size_t>(finding.kind);
    if (kept_of_[index] >= kKeptOfAKind) continue;
    ++kept_of_[index];
    kept_.push_back(finding);
  }
}

}  // namespace kmt
