// SPDX-License-Identifier: GPL-2.0-or-later
// Options of the commands that read a trace and print a result.
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
  std::vector<std::string> files;     // files of one trace; if empty, the trace is default_trace()
  std::optional<std::string> buffer;  // name of a trace buffer, for a trace that has several
  std::string abi;                    // layout of relay files; if empty, the layout is detected
  bool progress = true;
  bool call_records = false;  // same meaning as OpenOptions::call_records
};

struct ResultOptions {
  bool json = false;
  StyleOptions style;
};

// Adds FILE. In this function and all functions below, `options` must outlive the command.
void add_file_option(Command& command, TraceOptions& options);
// Adds -o, for commands whose result is a file (ResultFile). `more` is appended to the help text.
void add_output_option(Command& command, std::string& path, std::string_view more = {});
// --abi
void add_abi_option(Command& command, std::string& abi);
// Adds --buffer, --abi and --no-progress.
void add_trace_options(Command& command, TraceOptions& options);
// --threads
inline constexpr const char* kThreadsHelp =
    "Use N threads (default: the number of CPUs, at most 4)\nThe number does not affect the result.";
void add_threads_option(Command& command, unsigned& threads, const std::string& help = kThreadsHelp);
// Adds --limit and the alias --top. `what` says in the help text what is limited, for example "groups in each table".
void add_limit_option(Command& command, std::size_t& limit, const std::string& what);
// --no-color, --ascii
void add_style_options(Command& command, StyleOptions& options);
// Adds --json, --no-color, --ascii and --raw. `raw` is the help text of --raw, for example "plain digits and full
// names".
void add_result_options(Command& command, ResultOptions& options, const std::string& schema, const std::string& raw);

// Opens the given files. If no files are given, opens the default trace.
std::unique_ptr<Source> open_for_reading(const TraceOptions& options);

}  // namespace kmt
