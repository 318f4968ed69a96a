// SPDX-License-Identifier: GPL-2.0-or-later
// Finds copies of kernel files that lack lines, or repeat them. Users may have cut copies, or selected lines with
// programs such as grep and head. Adds a sentence to KernelMemory::missing for each finding.
#pragma once

#include <string_view>

#include "trace/state/kernel_memory.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

// Returns the text without its last line if this line has no line break, because its last number may lack digits.
// Editors may remove the last line break, so a line that certainly has its end is kept.
std::string_view whole_lines(std::string_view name, std::string_view text, KernelMemory& memory);

// Returns why the text is not a complete slabinfo, or nullptr if it is complete. A complete slabinfo has a header, and
// its last line is the kernel's oldest cache.
const char* why_slabinfo_is_incomplete(std::string_view text, const Slabinfo& found);

// Keeps one of several lines of slabinfo that have the same name and the same numbers. The kernel may have several
// caches with the same name, but hardly ever with equal numbers of objects.
void drop_repeated_caches(KernelMemory& memory);

// Compares the sums of files with the totals in meminfo. On nearly all machines they are equal. Finds files that lack
// zones, blocks, caches or areas, or are from another machine than meminfo.
void compare_copies(KernelMemory& memory);

}  // namespace kmt
