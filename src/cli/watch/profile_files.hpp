// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a heap profile to a file, and writes the files of a continuous profile.
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "symbols/kallsyms.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// A profile in all forms that can be written.
struct HeapProfileForms {
  HeapProfileResult result;
  DrawnProfile drawn;  // includes the facts of the profile
};

// Throws Error for an unknown extension. Known are *.pb.gz for pprof, *.json and *.kmt.
void check_profile_name(const std::string& path);
// Writes the profile in the format of the extension. Writes atomically, through a temporary file in the same folder.
// Throws Error.
void write_profile(const std::string& path, const HeapProfileForms& profile, const Kallsyms& symbols);
// Writes the profile into the folder, with its start time as the name. `suffix` is one of the known extensions. Never
// replaces a file. Keeps only the latest `keep` files in the folder.
void write_continuous_profile(const std::string& folder, const std::string& suffix, unsigned keep,
                              const HeapProfileForms& profile, const Kallsyms& symbols);

}  // namespace kmt
