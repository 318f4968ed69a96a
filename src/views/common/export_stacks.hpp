// SPDX-License-Identifier: GPL-2.0-or-later
// Exports reports by stack to the formats of profile viewers (docs/formats/export.md).
#pragma once

#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

// Returns the profile in the format of `go tool pprof`, gzipped. It has one sample type for each metric whose values
// can be added. The labels are allocator, cache and comm.
std::string pprof_export(const StackProfile& profile);
// Returns the profile in the file format of speedscope with schema version 0.0.1. It has one profile for each metric.
std::string speedscope_export(const StackProfile& profile);
// Returns the profile in the processed profile format of Firefox Profiler, version 49. It has one thread for each
// metric.
std::string firefox_export(const StackProfile& profile);
// Returns one line for each stack, outermost frame first: "[slab];do_syscall_64;__alloc_file 12800".
std::string collapsed_export(const StackProfile& profile, StackMetric metric);

}  // namespace kmt
