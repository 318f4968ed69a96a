// SPDX-License-Identifier: GPL-2.0-or-later
// Sums that the kernel keeps for each combination of keys. They are in a file events/SYSTEM/EVENT/hist
// (Documentation/trace/histogram.rst, Linux 6.18) or in /proc/allocinfo.
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
  std::vector<std::string> keys;  // keys in the order of Histogram::keys
  // Values in the order of Histogram::values; an unreadable value is empty.
  std::vector<std::optional<std::uint64_t>> values;
  bool approximate = false;  // true: a program rounded the values before they were stored, for example to "2.8M"
};

struct Histogram {
  HistogramSource source = HistogramSource::trigger;
  std::string trigger;  // the trigger: "hist:keys=call_site:vals=bytes_req …"; empty if the text does not contain it
  std::vector<std::string> keys;    // names of the keys
  std::vector<std::string> values;  // names of the values; the first is usually "hitcount"
  std::vector<HistogramRow> rows;   // in the order of the file
  // The kernel's totals. Empty if the text ends before the totals.
  std::optional<std::uint64_t> hits, entries, dropped;
  std::uint64_t unreadable_rows = 0;
};

// True if the kernel prints this value as a percentage, such as "hitcount (%)". The number is then stored in hundredths
// of a percent.
bool is_percentage(std::string_view value_name);

// Returns the sum of each value over all rows. A sum is empty if a row lacks the value, or if the sum needs more than
// 64 bits.
std::vector<std::optional<std::uint64_t>> sums_of(const Histogram& histogram);

// States whether the rows differ from the kernel's totals. Usually, the number of rows equals `entries`, and the sum of
// their first value equals `hits`. Events that happen while the kernel prints may make `hits` slightly larger.
struct HistogramDifference {
  bool entries = false;
  bool hits = false;
};
HistogramDifference difference_from_totals(const Histogram& histogram);

}  // namespace kmt
