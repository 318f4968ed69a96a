// SPDX-License-Identifier: GPL-2.0-or-later
// `kmemtrace export --to clickhouse`: what a trace is called in a fleet, and its way there.
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

// Takes the URL out of the words of a command line. Throws Error where there is none.
std::string take_url(std::vector<std::string>& words);

// `retry`: how long it is tried again, which is said on stderr; empty: as usual. Throws Error.
ServerAddress server_at(const std::string& url, const std::string& retry);

class ClickHouseExport {
 public:
  // Makes the tables where there are none. `selection`: what, beside its bytes, makes of the trace what is loaded.
  // Throws Error, also where neither trace nor options say of which host it is, and when it was recorded.
  ClickHouseExport(const ClickHouseOptions& options, const std::vector<std::string>& files,
                   const std::string& selection, const TraceInfo& info);

  bool is_there_already() const;  // says so on stderr
  FleetExport* sink(const TraceInfo& info, const SymbolNames& symbols, CallerFinder& callers);
  void say_what_was_loaded(bool complete) const;

 private:
  ServerAddress server_;
  FleetTrace trace_;
  std::optional<FleetExport> sink_;
};

}  // namespace kmt
