// SPDX-License-Identifier: GPL-2.0-or-later
// Labelled lines of text beside the tables: numbers in words, wrapped between words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results/report/report.hpp"
#include "views/text/style.hpp"
#include "views/text/table.hpp"

namespace kmt {

// Numbers for people, or plain where the style is raw.
std::string say_bytes(std::uint64_t bytes, const TextStyle& style);
std::string say_count(std::uint64_t count, const TextStyle& style);
std::string say_duration(std::uint64_t nanoseconds, const TextStyle& style);
std::string say_seconds(std::uint64_t nanoseconds);  // "12.345678901", a time on the trace's clock
std::string say_time(std::uint64_t unix_ns);         // "2026-01-31 23:59:59 UTC"
// "1 free", "2 frees"
std::string say_number_of(std::uint64_t count, std::string_view noun, const TextStyle& style);
// "+1.5 MiB/s", "-312 B/s"
std::string say_growth(double bytes_per_s);
// "12.3%" of the whole; "0%" when that is nothing.
std::string say_share(std::uint64_t part, std::uint64_t whole);

// "  label      text", the text wrapped under itself; an empty label continues the one above.
std::string labelled(std::string_view label, std::string_view text, const TextStyle& style);
// The text wrapped under itself, `first` in front of its first line and as many blanks before the others.
std::string hanging(std::string_view first, std::string_view text, const TextStyle& style);
// "  label       12.3 MiB  remark": sums that are aligned with each other.
std::string sum_line(std::string_view label, std::string_view sum, std::string_view remark, const TextStyle& style);
std::string heading(std::string_view text, const TextStyle& style);

// What makes all else uncertain, where a CPU has no data in the trace: "MISSING: …"; else empty.
std::string missing_cpus_text(const TraceSummary& trace);
// The trace's name, that CPUs are missing in it, and that it was not read to its end.
std::string trace_heading(const TraceSummary& trace, const TextStyle& style);
// What reports begin with: heading, machine, time, `events` in words, what was lost.
std::string trace_lines(const TraceSummary& trace, std::string_view events, const TextStyle& style);
// The lines about machine, time, and events that reports and checks begin with.
std::string machine_lines(const TraceSummary& trace, const TextStyle& style);
inline bool may_lack_events(const TraceSummary& trace) { return trace.lost_events > 0 || !trace.loss_known; }
// What was lost, where, and what that makes uncertain.
std::string lost_line(const TraceSummary& trace, const TextStyle& style);

// Of one side of a diff, of an allocator.
std::string no_allocations_line(std::string_view side, const TextStyle& style);

// What the kernel says of its memory, beside what the events say: a table. Empty where no sample tells.
std::string memory_lines(const MemoryState& memory, const TextStyle& style);

// Where options select no event.
extern const char* const kNothingSelected;

// "Slab", as a heading says it.
std::string capitalised(Allocator allocator);

}  // namespace kmt
