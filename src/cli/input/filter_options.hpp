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
// Those of them that any event can be selected by, not only an allocation: when, where, by whom. `what` is selected:
// "events".
void add_event_filter_options(Command& command, FilterOptions& options, const std::string& what);

// Throws Error where a value is wrong.
ReportFilter filter_of(const FilterOptions& options);

// For the help of such a command.
extern const char* const kWhichEventsCount;

}  // namespace kmt
