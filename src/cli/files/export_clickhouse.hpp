// SPDX-License-Identifier: GPL-2.0-or-later
// `kmemtrace export --to clickhouse`: a trace's identity in a fleet, and its upload.
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

// --level, --host, --recorded-at, --retry. The options must outlive the command.
void add_clickhouse_options(Command& command, ClickHouseOptions& options);

// Takes the URL out of a command line's words. Throws Error if there is none.
std::string take_url(std::vector<std::string>& words);

// `retry`: duration of retries, which are reported on stderr; empty: the default. Throws Error.
ServerAddress server_at(const std::string& url, const std::string& retry);

class ClickHouseExport {
 public:
  // Creates missing tables. `selection`: the options that change the trace's rows. Throws Error, also if the trace and
  // options lack the host or the time of recording.
  ClickHouseExport(const ClickHouseOptions& options, const std::vector<std::string>& files,
                   const std::string& selection, const TraceInfo& info);

  bool is_there_already() const;  // reports it on stderr
  FleetExport* sink(const TraceInfo& info, const SymbolNames& symbols, CallerFinder& callers);
  void say_what_was_loaded(bool complete) const;

 private:
  ServerAddress server_;
  FleetTrace trace_;
  std::optional<FleetExport> sink_;
};

}  // namespace kmt
