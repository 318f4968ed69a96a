// SPDX-License-Identifier: GPL-2.0-or-later
// Defines the possible imperfections of a trace. Also contains a log that counts findings and keeps a few examples.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class Severity : std::uint8_t { info, uncertain, loss, error };

enum class Imperfection : std::uint8_t {
#define IMPERFECTION(id, severity, sentence) id,
#include "trace/imperfections.def"
#undef IMPERFECTION
};

struct ImperfectionText {
  std::string_view id;
  Severity severity;
  std::string_view sentence;
};

constexpr std::array kImperfections = {
#define IMPERFECTION(id, severity, sentence) ImperfectionText{#id, Severity::severity, sentence},
#include "trace/imperfections.def"
#undef IMPERFECTION
};

constexpr const ImperfectionText& describe(Imperfection kind) { return kImperfections[static_cast<std::size_t>(kind)]; }
std::string_view to_string(Severity severity);

// Imperfections that hide events: an unknown number of events is missing at unknown times, or frees cannot be matched.
inline constexpr std::array kImpliesMissingEvents = {
    Imperfection::missing_cpu,     Imperfection::some_cpus,        Imperfection::interrupted_recording,
    Imperfection::cut_off_cpu,     Imperfection::unknown_loss,     Imperfection::truncated_file,
    Imperfection::unfinished_file, Imperfection::repaired_file,    Imperfection::damaged_section,
    Imperfection::damaged_block,   Imperfection::missing_section,  Imperfection::damaged_page,
    Imperfection::short_record,    Imperfection::bad_event_format, Imperfection::torn_record,
    Imperfection::unreadable_line, Imperfection::damaged_stream,   Imperfection::hidden_pointers};

// If TraceLosses::complete_until_ns is set, these imperfections mean that only events at the end are missing.
inline constexpr std::array kImpliesMissingEnd = {
    Imperfection::cut_off_cpu,     Imperfection::unknown_loss,  Imperfection::truncated_file,
    Imperfection::unfinished_file, Imperfection::repaired_file,
};

// One occurrence of an imperfection in a trace.
struct Finding {
  Imperfection kind;
  std::string detail;  // further information for the user; may be empty
  std::optional<unsigned> cpu;
  std::optional<std::uint64_t> offset;  // position in the file, in bytes
  std::optional<std::uint64_t> time_ns;
};

// Counts all findings, and keeps the first few of each kind as examples.
class Findings {
 public:
  static constexpr std::size_t kKeptOfAKind = 20;

  void add(Finding finding, std::uint64_t count = 1);
  // Counts a finding without keeping it as an example, so it is cheap enough for an event loop.
  void count(Imperfection kind, std::uint64_t count = 1) { counts_[static_cast<std::size_t>(kind)] += count; }
  // True if another example of this kind would be kept. Call this function before composing the text of a frequent
  // finding.
  bool wants(Imperfection kind) const { return kept_of_[static_cast<std::size_t>(kind)] < kKeptOfAKind; }

  std::uint64_t count_of(Imperfection kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  const std::vector<Finding>& kept() const { return kept_; }
  void merge(const Findings& other);

 private:
  std::array<std::uint64_t, kImperfections.size()> counts_{};
  std::array<std::size_t, kImperfections.size()> kept_of_{};
  std::vector<Finding> kept_;
};

}  // namespace kmt
