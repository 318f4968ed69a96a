// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the texts of the kernel's files to structs. The section "A snapshot" of docs/formats/kmt.md lists the texts.
// Texts may be from any kernel version, or malicious. A line that cannot be parsed is added to KernelMemory::unknown,
// and no exception is thrown.
#pragma once

#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Parses the whole sample. If `page_size` is 0, derives the page size from amounts that the sample shows both in pages
// and in bytes.
KernelMemory parse_snapshot(const StateSample& sample, std::uint32_t page_size);

// Throws Error if a line of meminfo, vmstat or slabinfo has an unreadable number, because this number would be missing
// from the sums. Does not check other sources. The error message contains `path`.
void refuse_damage(std::string_view source, std::string_view text, const std::string& path);

}  // namespace kmt
