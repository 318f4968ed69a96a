// SPDX-License-Identifier: GPL-2.0-or-later
// Splits a text with several of the kernel's files, as written by `cat /proc/meminfo /proc/slabinfo` or
// `head -n -0 /proc/{meminfo,vmstat}`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

// True if a line of the text starts with "MemTotal" and a number, perhaps after marks of a quoted mail.
bool has_meminfo(std::string_view text);

// Returns the names of the files, such as "meminfo", and their texts. Recognises each line by its form, so titles and
// shell prompts between the files are dropped. A line of an unknown form belongs to the file of the previous line.
std::vector<std::pair<std::string_view, std::string>> files_in_paste(std::string_view text);

}  // namespace kmt
