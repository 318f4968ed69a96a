// SPDX-License-Identifier: GPL-2.0-or-later
// The options of all commands that analyse a part of a trace.
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

// The options must outlive the command.
void add_filter_options(Command& command, FilterOptions& options);
// Only the options that select any event, not only allocations: by time, place and task. `what` is selected: "events".
void add_event_filter_options(Command& command, FilterOptions& options, const std::string& what);

// Throws Error for a wrong value.
ReportFilter filter_of(const FilterOptions& options);

// For the help of such a command.
extern const char* const kWhichEventsCount;

}  // namespace kmt
