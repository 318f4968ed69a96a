// SPDX-License-Identifier: GPL-2.0-or-later
// A heap profile as a file, and files of a profile that goes on.
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

// Throws Error unless the file's name tells what it shall be: *.pb.gz for pprof, *.json or *.kmt.
void check_profile_name(const std::string& path);
// As its name tells. It is written beside its place first, so that nobody sees half of it. Throws Error.
void write_profile(const std::string& path, const HeapProfileForms& profile, const Kallsyms& symbols);
// Into the folder, by the time of its begin; `suffix` is one of those. No file is replaced; the latest `keep` of the
// folder stay.
void write_continuous_profile(const std::string& folder, const std::string& suffix, unsigned keep,
                              const HeapProfileForms& profile, const Kallsyms& symbols);

}  // namespace kmt
