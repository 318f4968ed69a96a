// SPDX-License-Identifier: GPL-2.0-or-later
// Implements `kmemtrace export --to clickhouse`: identifies a trace in a fleet and uploads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/support/options.hpp"
#include "fleet/export.hpp"

namespace kmt {

struct ClickHouseOptions {
  std::string url;
  std::string level = "events";
  std::string host;
  std::string recorded_at;
  std::string retry;
};

// Adds --level, --host, --recorded-at and --retry. `options` must outlive the command.
void add_clickhouse_options(Command& command, ClickHouseOptions& options);

// Removes the URL from the words of a command line and returns it. Throws Error if there is none.
std::string take_url(std::vector<std::string>& words);

// Returns the server's address. `retry` is the time during which failed requests are retried; if empty, the default.
// Retries are reported on stderr. Throws Error.
ServerAddress server_at(const std::string& url, const std::string& retry);

// Loads the account of kernel memory in a file with snapshots. Creates missing tables. Throws Error.
void export_account(const ClickHouseOptions& options, const std::string& path);

class ClickHouseExport {
 public:
  // Creates missing tables. `selection` is a text with the options that affect the rows of the trace. The host and the
  // recording time must be in the trace or in the options. Throws Error.
  ClickHouseExport(const ClickHouseOptions& options, const std::vector<std::string>& files,
                   const std::string& selection, const TraceInfo& info);

  bool is_there_already() const;  // True if the server already has the trace. In this case, prints a note on stderr.
  FleetExport* sink(const TraceInfo& info, const SymbolNames& symbols, CallerFinder& callers);
  void say_what_was_loaded(bool complete) const;

 private:
  ServerAddress server_;
  FleetTrace trace_;
  std::optional<FleetExport> sink_;
};

}  // namespace kmt
