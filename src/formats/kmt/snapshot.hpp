// SPDX-License-Identifier: GPL-2.0-or-later
// A snapshot of the kernel's memory in a .kmt file: docs/formats/kmt.md, "A snapshot".
#pragma once

#include <string>
#include <vector>

#include "formats/trace_file.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state_sample.hpp"

namespace kmt::kmt_format {

struct StoredSnapshots {
  KernelDescription kernel;
  std::vector<StateSample> samples;  // by time; not empty
};

// Makes the file, or empties it. Of the kernel its names and notes are kept. Throws Error.
void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel);
// Whether a file has snapshots and nothing of a trace. Reads only as far as it has to.
bool holds_snapshots_only(Bytes file);
// Of a trace too: its samples are snapshots of a few files. Throws Error where the file is no .kmt, has no sample or
// not all of what describes it is intact.
StoredSnapshots read_snapshots(const TraceFile& file);

}  // namespace kmt::kmt_format
