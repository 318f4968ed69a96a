// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a heap profile to a file. Also writes the series of files of a continuous profile.
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "symbols/kallsyms.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// One profile in all the forms in which it can be written.
struct HeapProfileForms {
  HeapProfileResult result;
  DrawnProfile drawn;  // the form for .kmt files, with facts about the recording
};

// Throws Error if the extension is unknown. Known are *.pb.gz for pprof, *.json and *.kmt.
void check_profile_name(const std::string& path);
// Writes the profile in the format that the extension of the name selects. The file is written atomically, through a
// temporary file in the same folder. Throws Error.
void write_profile(const std::string& path, const HeapProfileForms& profile, const Kallsyms& symbols);
// Writes the profile into the folder. The name of the file is the start time of the profile. `suffix` is one of the
// known extensions. Never replaces a file. Deletes the oldest profiles in the folder, so that `keep` of them remain.
void write_continuous_profile(const std::string& folder, const std::string& suffix, unsigned keep,
                              const HeapProfileForms& profile, const Kallsyms& symbols);

}  // namespace kmt
