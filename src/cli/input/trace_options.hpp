// SPDX-License-Identifier: GPL-2.0-or-later
// The options of all commands that read a trace and print a result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/support/options.hpp"
#include "cli/support/output.hpp"
#include "trace/source.hpp"

namespace kmt {

struct TraceOptions {
  std::vector<std::string> files;     // of one trace; empty: default_trace()
  std::optional<std::string> buffer;  // of a trace with several
  std::string abi;                    // of relay files; empty: detect it
  bool progress = true;
  bool call_records = false;  // as in OpenOptions
};

struct ResultOptions {
  bool json = false;
  StyleOptions style;
};

// FILE. The options must outlive the command, here and below.
void add_file_option(Command& command, TraceOptions& options);
// -o, for commands whose result is a file (ResultFile); `more` is further help.
void add_output_option(Command& command, std::string& path, std::string_view more = {});
// --abi
void add_abi_option(Command& command, std::string& abi);
// --buffer, --abi, --no-progress
void add_trace_options(Command& command, TraceOptions& options);
// --threads
void add_threads_option(Command& command, unsigned& threads);
// --limit or --top; `what`: "groups in each table"
void add_limit_option(Command& command, std::size_t& limit, const std::string& what);
// --no-color, --ascii
void add_style_options(Command& command, StyleOptions& options);
// --json, these, and --raw, which prints `raw`: "plain digits and full names"
void add_result_options(Command& command, ResultOptions& options, const std::string& schema, const std::string& raw);

// Opens the named files, or the default one.
std::unique_ptr<Source> open_for_reading(const TraceOptions& options);

}  // namespace kmt
