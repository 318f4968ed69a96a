// SPDX-License-Identifier: GPL-2.0-or-later
// Sums that the kernel kept by keys: the content of a file events/SYSTEM/EVENT/hist
// (Documentation/trace/histogram.rst, Linux 6.18), or of /proc/allocinfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class HistogramSource : std::uint8_t {
  trigger,    // events/SYSTEM/EVENT/hist: sums of events
  allocinfo,  // /proc/allocinfo: live allocations of each call site
};

struct HistogramRow {
  std::vector<std::string> keys;                     // one for each of Histogram::keys
  std::vector<std::optional<std::uint64_t>> values;  // one for each of Histogram::values; empty if unreadable
  bool approximate = false;                          // a program has rounded the values, for example to "2.8M"
};

struct Histogram {
  HistogramSource source = HistogramSource::trigger;
  std::string trigger;              // "hist:keys=call_site:vals=bytes_req …"; empty if the text lacks it
  std::vector<std::string> keys;    // names
  std::vector<std::string> values;  // names; the first is usually "hitcount"
  std::vector<HistogramRow> rows;   // in the order of the file
  // The kernel's totals; empty if the text was cut off before them.
  std::optional<std::uint64_t> hits, entries, dropped;
  std::uint64_t unreadable_rows = 0;
};

// True if the kernel prints a value as a percentage, such as "hitcount (%)". Its numbers are hundredths of a percent.
bool is_percentage(std::string_view value_name);

// Returns the sum of each value over all rows. Empty if a row lacks the value, or if the sum has more than
// 64 bits.
std::vector<std::optional<std::uint64_t>> sums_of(const Histogram& histogram);

// How the rows differ from the kernel's totals. The kernel prints as many rows as it states in `entries`, and `hits` is
// the sum of their first value. Events that happen while the kernel prints may make `hits` slightly larger.
struct HistogramDifference {
  bool entries = false;
  bool hits = false;
};
HistogramDifference difference_from_totals(const Histogram& histogram);

}  // namespace kmt
