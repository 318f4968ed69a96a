// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a snapshot: the texts of the kernel's files, as they are.
#pragma once

#include <string>

#include "trace/state/sample.hpp"

namespace kmt {

// Of the running kernel. What cannot be read, and why, is said in the text "missing". Reads at most 60 MiB, and of what
// takes long no more than three seconds.
StateSample collect_snapshot();
// Adds what of it the sample does not have yet, as a trace's begin and end have it: not what tells nothing of the
// objects that live, and page_owner, which is the largest, only if asked for. It reads no more, and no longer, than
// collect_snapshot().
void complete_sample(StateSample& sample, bool with_page_owner);

// Copies in a folder: FOLDER/meminfo, FOLDER/proc/meminfo, FOLDER/slab or FOLDER/sys/kernel/slab, … Whether it has one
// of meminfo, which all others are parts of; has others, but not that one; has one of slabinfo, which tells how caches
// went without meminfo, too.
bool has_meminfo_copy(const std::string& folder);
bool lacks_meminfo(const std::string& folder);
bool has_slabinfo_copy(const std::string& folder);
// A snapshot of the copies that are there, whichever these are. The text "uname" is that of `uname -a`, if it is there.
// Throws Error where one is damaged.
StateSample collect_copies(const std::string& folder);
// The same. Throws Error where there is no meminfo, too.
StateSample collect_snapshot_from(const std::string& folder);

}  // namespace kmt
