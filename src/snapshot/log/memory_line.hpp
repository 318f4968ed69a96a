// SPDX-License-Identifier: GPL-2.0-or-later
// Distinguishes lines about memory in the kernel's log from other messages that also have names and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// Returns the name of a counter as current kernels write it, or an empty string for any other word. Linux 2.6.31 and
// earlier wrote "Active_anon".
std::string counter_name(std::string_view name);

// True for the title of a report: "Mem-Info:", or "Mem-info:" (Arm before Linux 3.13).
bool has_title(std::string_view text);

// Returns the number of messages that were lost before this message: "** 12 printk messages dropped **" by the kernel,
// or "Missed 12 kernel messages" by journald. Empty for other messages.
std::optional<std::uint64_t> lost_messages(std::string_view text);

// Returns the number directly after these words. Empty if the words or the number are missing.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view words);

// True if the whole line certainly belongs to a report, such as the line of a zone. Used to find reports whose first
// lines are lost.
bool is_line_of_report(std::string_view line);

// Returns the line with "12kB" in place of "12 kB". Some viewers insert this blank.
std::string with_joined_units(std::string_view line);

// Returns the beginning of the line that consists of counters, zones and free blocks. Empty if the line is another
// message. A line may end with other words, if it was cut or if another message interrupted it.
std::string_view memory_part(std::string_view line);

}  // namespace kmt
