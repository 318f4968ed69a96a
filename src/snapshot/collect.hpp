// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a snapshot: the texts of the kernel's files, as they are.
#pragma once

#include <string>

#include "trace/state/sample.hpp"

namespace kmt {

// Takes a snapshot of the running kernel. The text "missing" lists unreadable files with the reasons. Reads at most 60
// MiB, and slow files for at most three seconds.
StateSample collect_snapshot();
// Adds the texts that the sample lacks, for a trace's start and end: only sources about live objects, and page_owner,
// the largest one, only on request. It reads no more, and no longer, than collect_snapshot().
void complete_sample(StateSample& sample, bool with_page_owner);

// Copies in a folder: FOLDER/meminfo, FOLDER/proc/meminfo, FOLDER/slab or FOLDER/sys/kernel/slab, … True if it has one
// of meminfo, whose parts all others are; if it has others, but not that one; if it has one of slabinfo, which shows
// caches without meminfo, too.
bool has_meminfo_copy(const std::string& folder);
bool lacks_meminfo(const std::string& folder);
bool has_slabinfo_copy(const std::string& folder);
// A snapshot of the copies that are there, whichever these are. The text "uname" is that of `uname -a`, if it is there.
// Throws Error where one is damaged.
StateSample collect_copies(const std::string& folder);
// The same. Throws Error where there is no meminfo, too.
StateSample collect_snapshot_from(const std::string& folder);

}  // namespace kmt
