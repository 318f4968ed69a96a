// SPDX-License-Identifier: GPL-2.0-or-later
// Functions for numbers in text, and for the labelled and wrapped lines before and after tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "results/report/report.hpp"
#include "views/text/style.hpp"
#include "views/text/table.hpp"

namespace kmt {

// Return readable numbers ("1.5 MiB"), or plain numbers if the style is raw.
std::string say_bytes(std::uint64_t bytes, const TextStyle& style);
std::string say_count(std::uint64_t count, const TextStyle& style);
std::string bytes_or_unknown(const std::optional<std::uint64_t>& bytes, const TextStyle& style);  // "-" if unknown
// Formats a change with its sign: "+1.5 KiB", "-3".
std::string say_change(std::int64_t change, Unit unit, const TextStyle& style);
std::string say_duration(std::uint64_t nanoseconds, const TextStyle& style);
// Puts "<= " before a count of live objects that is an upper bound. Does nothing in the raw style, in which scripts
// need plain numbers.
std::string upper_bound(const LiveCount& maybe_freed, std::string text, const TextStyle& style);
// True if the keys name the process or task of an allocation.
bool names_processes(const std::vector<GroupKey>& by);
std::string say_seconds(std::uint64_t nanoseconds);  // returns a time on the trace's clock in seconds: "12.345678901"
std::string say_time(std::uint64_t unix_ns);         // for example "2026-01-31 23:59:59 UTC"
// returns a text such as "1 free" or "2 frees"
std::string say_number_of(std::uint64_t count, std::string_view noun, const TextStyle& style);
// returns a text such as "+1.5 MiB/s" or "-312 B/s"
std::string say_growth(double bytes_per_s);
// Returns "12.3%", or "0%" if the whole is 0.
std::string say_share(std::uint64_t part, std::uint64_t whole);

// Returns " label text". Wrapped lines start below the text. An empty label continues the previous labelled line.
std::string labelled(std::string_view label, std::string_view text, const TextStyle& style);
// Returns `first` and the text. Wrapped lines are indented by the width of `first`.
std::string hanging(std::string_view first, std::string_view text, const TextStyle& style);
// Returns " label 12.3 MiB remark". The numbers of several such lines are aligned.
std::string sum_line(std::string_view label, std::string_view sum, std::string_view remark, const TextStyle& style);
std::string heading(std::string_view text, const TextStyle& style);
// Returns an empty line and a heading such as "vmalloc by caller, 10 of 42".
std::string counted_heading(std::string_view what, std::size_t shown, std::size_t total, const TextStyle& style);

// Returns "MISSING: …" if the trace has no data of some CPU, because this makes all results uncertain. Otherwise
// returns an empty string.
std::string missing_cpus_text(const TraceSummary& trace);
// Returns the trace's name, with notes if CPUs are missing or if Ctrl+C stopped the reading.
std::string trace_heading(const TraceSummary& trace, const TextStyle& style);
// Returns the first lines of a report: heading, machine, time, the text `events`, and lost events.
std::string trace_lines(const TraceSummary& trace, std::string_view events, const TextStyle& style);
// Returns lines about the machine, the recorded time and the ring buffers, for reports and `check`.
std::string machine_lines(const TraceSummary& trace, const TextStyle& style);
inline bool may_lack_events(const TraceSummary& trace) { return trace.lost_events > 0 || !trace.loss_known; }
// Returns a line about lost events: their number, their CPUs and the results that they affect.
std::string lost_line(const TraceSummary& trace, const TextStyle& style);

// A brief report has at most this number of lines.
inline constexpr std::size_t kBriefLines = 60;
std::size_t lines_in(const std::string& text);

// Returns a line for a diff in which one trace has no allocations of an allocator.
std::string no_allocations_line(std::string_view side, const TextStyle& style);

// Returns a table of the kernel's memory counters and their changes during the trace. Empty if the trace has no samples
// of these counters.
std::string memory_lines(const MemoryState& memory, const TextStyle& style);

// The message to show if no event matches the filters.
extern const char* const kNothingSelected;

// Returns an empty line and the name of the document that explains the terms of a report. Empty in the raw style.
std::string concepts_line(const TextStyle& style);

// Returns "Slab" and so on, for headings.
std::string capitalised(Allocator allocator);

}  // namespace kmt
