// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a snapshot: unchanged texts of the kernel's files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/sample.hpp"

namespace kmt {

// Takes a snapshot of the running kernel. The text "missing" lists unreadable files with the reasons. Reads at most 60
// MiB, and each source for at most three seconds.
StateSample collect_snapshot();
// Adds texts that the sample lacks, at the start and end of a trace. Reads only sources about live objects. Reads
// page_owner, the largest source, only on request. The limits are those of collect_snapshot().
void complete_sample(StateSample& sample, bool with_page_owner);

constexpr std::string_view kTooLarge = "the size limit was reached";
// Says that only the first bytes of a file were read. `limit` is the reason.
std::string why_cut(std::size_t bytes, std::string_view limit);

// The folder may have copies as FOLDER/meminfo, FOLDER/proc/meminfo, FOLDER/slab, FOLDER/sys/kernel/slab, …
// True if the folder has a copy of meminfo. The other sources show parts of its amounts.
bool has_meminfo_copy(const std::string& folder);
// True if the folder has other copies, but none of meminfo.
bool lacks_meminfo(const std::string& folder);
// True if the folder has a copy of slabinfo, which shows caches even without meminfo.
bool has_slabinfo_copy(const std::string& folder);
// Returns a snapshot of all copies in the folder. If there is a file "uname" with the output of `uname -a`, adds it.
// Throws Error if a copy is damaged.
StateSample collect_copies(const std::string& folder);
// Returns the paths of the copies, in the folder.
std::vector<std::string> copied_files(const std::string& folder);
// Like collect_copies(). Also throws Error if there is no meminfo.
StateSample collect_snapshot_from(const std::string& folder);

}  // namespace kmt
