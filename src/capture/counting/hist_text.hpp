// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the tables of hist triggers: events/SYSTEM/NAME/hist in tracefs (Documentation/trace/histogram.rst,
// Linux 6.12).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct HistEntry {
  std::map<std::string, std::string, std::less<>> keys;      // key: name of a field; value: as printed, trimmed
  std::map<std::string, std::uint64_t, std::less<>> values;  // includes "hitcount"

  // Return the number of a value or of a key; 0 if there is none. A field may be both: bytes_alloc as a value is a sum.
  std::uint64_t number(std::string_view value) const;
  std::uint64_t key_number(std::string_view key) const;
};

// The table of one trigger.
struct HistTable {
  std::string
      trigger;  // as in the file, such as "hist:keys=order:vals=hitcount:sort=hitcount:size=128 if pfn != 5 [active]"
  std::vector<HistEntry> entries;
  std::uint64_t dropped = 0;  // number of events that are in no entry, because the table is full

  // Returns the filter of the trigger; empty if it has none.
  std::string_view filter() const;
};

// Parses the file of an event. It has one table for each trigger.
std::vector<HistTable> parse_hist(std::string_view text);

}  // namespace kmt
