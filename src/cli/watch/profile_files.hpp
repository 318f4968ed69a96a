// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a heap profile to a file, and a continuous profile's files.
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "symbols/kallsyms.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// A profile in all of its forms.
struct HeapProfileForms {
  HeapProfileResult result;
  DrawnProfile drawn;  // with its facts
};

// Throws Error for an unknown extension: *.pb.gz is for pprof, *.json or *.kmt.
void check_profile_name(const std::string& path);
// In the form of its extension. Writes atomically, through a temporary file in the same folder. Throws Error.
void write_profile(const std::string& path, const HeapProfileForms& profile, const Kallsyms& symbols);
// Into the folder, named by its start time; `suffix` is one of those extensions. Replaces no file; keeps the folder's
// latest `keep`.
void write_continuous_profile(const std::string& folder, const std::string& suffix, unsigned keep,
                              const HeapProfileForms& profile, const Kallsyms& symbols);

}  // namespace kmt
