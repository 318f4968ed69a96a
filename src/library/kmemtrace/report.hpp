// SPDX-License-Identifier: GPL-2.0-or-later
// The results of `kmemtrace report`: allocations matched with frees, and summed up by group.
//
//   for (const auto& group : kmemtrace::report("trace.kmt", {.by = {"cache", "call-site"}}).groups) …
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kmemtrace/trace.hpp>

namespace kmemtrace {

struct ReportOptions {
  std::vector<std::string> by = {"call-site"};  // keys to group by, outermost first; group_keys() lists them
  // Key of a column. Groups are sorted by their values in this column, largest first.
  std::string sort = "allocated";
  std::string kallsyms = {};  // path of a file with kernel symbols, used if the trace has none
};

// Totals of one allocator: "slab", "pages", "percpu" or "vmalloc". docs/formats/report-json.md defines the members.
struct Totals {
  std::string allocator;
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t bytes_freed = 0;
  std::uint64_t live_allocations = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0;
  // False if events do not contain the allocated bytes, so that freed, live and peak bytes are unknown.
  bool knows_bytes = true;
};

struct Column {
  std::string_view key;      // identifies the column, such as "live-bytes"; the meaning of a key never changes
  std::string_view unit;     // "count", "bytes", "percent", "duration" (ns), "time" (ns), …
  std::string_view meaning;  // one sentence
};
// A value of a group. std::monostate if the group has no value in this column.
using Value = std::variant<std::monostate, std::uint64_t, double, std::string>;

struct Group {
  std::string allocator;
  std::vector<std::string> keys;  // one value for each key in ReportOptions::by
  std::vector<Value> values;      // one value for each column in columns()
};

struct Report {
  Machine machine;
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  std::vector<Finding> findings;
  std::vector<Totals> totals;
  std::vector<Group> groups;  // sorted by allocator, then by ReportOptions::sort
};

// Returns the valid keys for `by`.
KMEMTRACE_API std::vector<std::string_view> group_keys();
// Returns the columns of Group::values, in the same order.
KMEMTRACE_API const std::vector<Column>& columns();
// Returns the index of a column in Group::values. Throws Error if there is no such column.
KMEMTRACE_API std::size_t column(std::string_view key);

// report() and report_json() read the whole trace. They throw Error if the file is not a trace or an option is invalid.
KMEMTRACE_API Report report(const std::string& path, const ReportOptions& options = {});
// Returns the output of `kmemtrace report --json --limit 0`.
KMEMTRACE_API std::string report_json(const std::string& path, const ReportOptions& options = {});

}  // namespace kmemtrace
