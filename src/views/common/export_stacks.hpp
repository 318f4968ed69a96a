// SPDX-License-Identifier: GPL-2.0-or-later
// Reports by stack for profile viewers: docs/formats/export.md.
#pragma once

#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

// For `go tool pprof`: gzipped, with one sample type for each metric whose values add up. Labels: allocator, cache,
// comm.
std::string pprof_export(const StackProfile& profile);
// The file format of speedscope, schema version 0.0.1, with one profile for each metric.
std::string speedscope_export(const StackProfile& profile);
// The processed profile format of Firefox Profiler, version 49, with one thread for each metric.
std::string firefox_export(const StackProfile& profile);
// One line for each stack, outermost frame first: "[slab];do_syscall_64;__alloc_file 12800".
std::string collapsed_export(const StackProfile& profile, StackMetric metric);

}  // namespace kmt
