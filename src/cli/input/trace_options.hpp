// SPDX-License-Identifier: GPL-2.0-or-later
// Options of all commands that read a trace and print a result.
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
  std::vector<std::string> files;     // files of one trace; empty: default_trace()
  std::optional<std::string> buffer;  // name of a buffer, if the trace has several
  std::string abi;                    // layout of relay files; empty: detect the layout
  bool progress = true;
  bool call_records = false;  // same meaning as in OpenOptions
};

struct ResultOptions {
  bool json = false;
  StyleOptions style;
};

// Adds FILE. `options` must outlive the command, here and in the functions below.
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
// Adds --limit and its alias --top. `what` describes the counted items: "groups in each table".
void add_limit_option(Command& command, std::size_t& limit, const std::string& what);
// --no-color, --ascii
void add_style_options(Command& command, StyleOptions& options);
// Adds --json, --no-color, --ascii, and --raw. `raw` is the text for the help of --raw: "plain digits and full names".
void add_result_options(Command& command, ResultOptions& options, const std::string& schema, const std::string& raw);

// Opens the given files, or the default trace if there are none.
std::unique_ptr<Source> open_for_reading(const TraceOptions& options);

}  // namespace kmt
