// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a snapshot, which consists of unchanged texts of the kernel's files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/state/sample.hpp"

namespace kmt {

// Takes a snapshot of the running kernel. The text "missing" lists the files that could not be read, with the reasons.
// Reads at most 60 MiB in total, and each source for at most three seconds. Throws Error if meminfo cannot be read,
// because nothing else has the kernel's totals.
StateSample collect_snapshot();

// The last reading of a source in a series of snapshots.
struct SourceReading {
  std::vector<std::pair<std::string, std::string>> texts;
  std::string missing;            // lines of the text "missing"
  std::uint64_t cpu_ns = 0;       // CPU time of the reading
  std::uint64_t read_ns = 0;      // time of the reading, since the start of the series
  std::uint64_t fast_cpu_ns = 0;  // SeriesReadings::fast_cpu_ns at the time of the reading
};
struct SeriesReadings {
  std::map<std::string, SourceReading> sources;  // by name of the source; empty at the start of a series
  std::uint64_t fast_cpu_ns = 0;                 // CPU time of all readings of fast sources since the start
};
// Takes the next snapshot of a series. `elapsed_ns` is the time since the start of the series. Reads the small files
// that the balance sheet compares, and all other fast sources. To limit the cost, slow sources are read less often, and
// their last texts are repeated. The text "older" lists the repeated texts and their age.
// Throws Error if meminfo cannot be read.
StateSample collect_snapshot(SeriesReadings& readings, std::uint64_t elapsed_ns);

// Reads only small files with counters, in a few milliseconds, and only the topmost cgroup. Throws Error if meminfo
// cannot be read.
StateSample collect_counters();
// Adds the texts that a sample of a recording lacks. The recorder takes such samples at the start and at the end of a
// trace. Does not read sources that are large and do not help to explain a trace. Reads page_owner, the largest source,
// only if `with_page_owner` is true. The limits are those of collect_snapshot().
void complete_sample(StateSample& sample, bool with_page_owner);

// Returns the log of the running kernel, at most the last 16 MiB. `error` becomes 0. If the log cannot be read, returns
// an empty text, and `error` becomes the errno value.
std::string running_kernel_log(int& error);

// Returns the mount point of the cgroups that account for memory. This is the v1 memory controller if it is mounted,
// otherwise v2. Empty if neither is mounted.
std::string cgroup_root();

constexpr std::string_view kTooLarge = "the size limit was reached";
// Returns a text such as "only the first 16 MiB were read: the size limit was reached". `limit` is the part after the
// colon.
std::string why_cut(std::size_t bytes, std::string_view limit);

// Returns true if the folder has a copy of meminfo. Without meminfo, the total of the machine's memory is unknown. This
// function and the following ones find copies of the kernel's files in a folder. FOLDER/meminfo and FOLDER/proc/meminfo
// are copies of /proc/meminfo. FOLDER/slab and FOLDER/sys/kernel/slab are copies of /sys/kernel/slab.
bool has_meminfo_copy(const std::string& folder);
// True if the folder has copies of other files, but not of meminfo.
bool lacks_meminfo(const std::string& folder);
// True if the folder has a copy of slabinfo. The caches in slabinfo can be shown without meminfo.
bool has_slabinfo_copy(const std::string& folder);
// Returns a snapshot of all copies in the folder. Adds the file "uname", which must have the output of `uname -a`. If
// there is no such file, adds "proc/version". Throws Error if a copy is damaged.
StateSample collect_copies(const std::string& folder);
// Returns the paths of the copies, relative to the folder.
std::vector<std::string> copied_files(const std::string& folder);
// Returns the result of collect_copies(), and throws Error if the folder has no readable meminfo.
StateSample collect_snapshot_from(const std::string& folder);

}  // namespace kmt
