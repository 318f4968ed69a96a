// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a series of snapshots, for commands that usually read traces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/input/trace_options.hpp"
#include "cli/support/options.hpp"
#include "results/snapshot/series.hpp"
#include "views/common/series_options.hpp"

namespace kmt {

using SeriesText = std::string (*)(const SnapshotSeries&, const SeriesOptions&, const TextStyle&);

// True if the options name one file with several snapshots and no trace, or several kernel logs.
bool names_series(const TraceOptions& options);

// True if each file has several snapshots and no trace, or is a kernel log.
bool names_series_files(const TraceOptions& options);
// Writes a page about the series in the files, in any order. Throws Error, also if the times of the files overlap.
void write_series_html(const std::string& path, const TraceOptions& options);

// Throws Error if options that apply to events are given. `content` describes the file for the message, for example "a
// series of snapshots".
void refuse_event_options(const Command& command, std::string_view content);

// Prints the series and returns it. Throws Error if the file is unreadable, or if options were given that apply only to
// events.
SnapshotSeries print_series(const Command& command, const TraceOptions& files, double threshold_bytes_per_s,
                            const SeriesOptions& view, const ResultOptions& result, SeriesText text);

}  // namespace kmt
