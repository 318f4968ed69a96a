// SPDX-License-Identifier: GPL-2.0-or-later
// The options that select a part of a trace. All commands that can analyse a part have these options.
#pragma once

#include <string>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "cli/support/options.hpp"

namespace kmt {

struct FilterOptions {
  std::string time;
  std::string cpus;
  std::string pids;
  std::string size;
  std::vector<std::string> comms;
  std::vector<std::string> contexts;
  std::vector<std::string> call_sites;
  std::vector<std::string> caches;
};

// Adds the options that select events. `options` must outlive the command.
void add_filter_options(Command& command, FilterOptions& options);
// Adds only the options that apply to all kinds of events: those that select by time, CPU and task. `what` names the
// selected things in the help text, for example "events".
void add_event_filter_options(Command& command, FilterOptions& options, const std::string& what);

// Returns the filter that the options select. Throws Error if an option has an invalid value.
ReportFilter filter_of(const FilterOptions& options);

// The paragraph of the help text that explains which events are counted.
extern const char* const kWhichEventsCount;

}  // namespace kmt
