// SPDX-License-Identifier: GPL-2.0-or-later
// What commands that read traces say of a series of snapshots instead.
#pragma once

#include <cstddef>
#include <string>

#include "cli/input/trace_options.hpp"
#include "cli/support/options.hpp"
#include "results/snapshot/series.hpp"
#include "views/common/series_options.hpp"

namespace kmt {

using SeriesText = std::string (*)(const SnapshotSeries&, const SeriesOptions&, const TextStyle&);

// Whether the options name one file, and it has several snapshots and nothing of a trace.
bool names_series(const TraceOptions& options);

// Prints it. Options of the command that are about events are refused: throws Error, also where the file cannot be
// read. The result says whether something grows for certain.
bool print_series(const Command& command, const TraceOptions& files, double threshold_bytes_per_s,
                  const SeriesOptions& view, const ResultOptions& result, SeriesText text);

}  // namespace kmt
