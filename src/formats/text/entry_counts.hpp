// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the counts in the headers of a text trace with the entries that the text has. Also reads the statistics of
// ring buffers in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/lines.hpp"
#include "trace/imperfections.hpp"

namespace kmt::text {

class EntryCounts {
 public:
  // Counts the entries of an item, or reads it if it is a header.
  void add(const Lines::Item& item);
  // Notes an item that repeats an earlier one.
  void add_repeated() {
    if (!parts_.empty()) parts_.back().has_repeated = true;
  }

  unsigned cpus() const { return cpus_; }  // 0 if unknown
  // Number of entries that were overwritten before the kernel printed the text. Empty if no header states it.
  std::optional<std::uint64_t> overwritten() const;
  // Number of entries that the headers count, but the text does not have.
  std::uint64_t missing() const;
  // Adds a finding for each header that counts more entries than the text has.
  void report_missing(Findings& findings) const;

 private:
  // A header and the entries after it.
  struct Part {
    std::uint64_t kept = 0, written = 0;  // as in the header
    unsigned cpus = 0;                    // as in the header; 0 if it does not state the number
    std::uint64_t entries = 0;            // in the text
    std::uint64_t without_prefix = 0;     // lines such as "kfree: …", which are entries if lacks_prefixes is true
    bool lacks_prefixes = false;
    bool has_repeated = false;    // true if the part has entries of earlier parts, which do not count
    std::optional<unsigned> cpu;  // the CPU of all entries
    bool has_several_cpus = false;
  };

  void add_entries(std::optional<unsigned> cpu, unsigned count);
  void add_other(std::string_view line);
  bool add_header(std::string_view line);
  // Returns the parts. The kernel counts the entries of all CPUs in the header of each file per_cpu/cpuN/trace, so such
  // files become one part.
  std::vector<Part> whole_parts() const;

  std::vector<Part> parts_;
  Part before_;  // the entries before the first header, as in a sorted text
  unsigned cpus_ = 0;
};

}  // namespace kmt::text
