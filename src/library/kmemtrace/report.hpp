// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of `kmemtrace report`: allocations and frees paired, and added up by group.
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
  std::vector<std::string> by = {"call-site"};  // keys, of which several nest: those of group_keys()
  std::string sort = "allocated";               // a column's key: largest first
  std::string kallsyms = {};                    // file with the kernel's symbols, for a trace that holds none
};

// Totals of one allocator: "slab", "pages", "percpu", "vmalloc". docs/formats/report-json.md defines each.
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
  bool knows_bytes = true;  // false: the kernel does not say bytes_allocated, so freed, live and peak bytes are unknown
};

struct Column {
  std::string_view key;      // never changes its meaning: "live-bytes"
  std::string_view unit;     // "count", "bytes", "percent", "duration" (ns), "time" (ns), …
  std::string_view meaning;  // one sentence
};
// Empty where a group has no such value.
using Value = std::variant<std::monostate, std::uint64_t, double, std::string>;

struct Group {
  std::string allocator;
  std::vector<std::string> keys;  // one of each of ReportOptions::by
  std::vector<Value> values;      // one of each of columns()
};

struct Report {
  Machine machine;
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  std::vector<Finding> findings;
  std::vector<Totals> totals;
  std::vector<Group> groups;  // sorted, by allocator
};

// The possible keys of `by`.
KMEMTRACE_API std::vector<std::string_view> group_keys();
// The columns of Group::values, in their order.
KMEMTRACE_API const std::vector<Column>& columns();
// The place of a column in Group::values. Throws Error where there is none of that name.
KMEMTRACE_API std::size_t column(std::string_view key);

// Both read the whole trace, and throw Error where it is none or an option is wrong.
KMEMTRACE_API Report report(const std::string& path, const ReportOptions& options = {});
// Returns the output of `kmemtrace report --json --limit 0`.
KMEMTRACE_API std::string report_json(const std::string& path, const ReportOptions& options = {});

}  // namespace kmemtrace
