// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/trace_options.hpp"

#include <fmt/format.h>

#include "cli/input/reading.hpp"

namespace kmt {

void add_file_option(Command& command, TraceOptions& options) {
  command.argument("FILE", &options.files,
                   "The trace to read (default: trace.kmt, else trace.dat, else cpu0.out, cpu1.out, …)\n"
                   "FILE is a .kmt, trace.dat, perf.data, text of ftrace or perf, or relay files of kmemtrace, from "
                   "any machine. For relay files, give their folder or all files. - is standard input.");
}

void add_output_option(Command& command, std::string& path, std::string_view more) {
  command.option(
      "-o,--output", &path, "FILE",
      fmt::format("Write to FILE (default: -, standard output)\nFILE is replaced only when the output is complete.{}",
                  more));
}

void add_abi_option(Command& command, std::string& abi) {
  command.option("--abi", &abi, "ABI",
                 "Read relay files of kmemtrace in the layout ABI: v0-le, v1-le, v2-le, v3-64-le or v3-32-le; v0-be "
                 "and so on for big-endian machines\nThe files do not state their layout. By default the layout is "
                 "detected, and `check` reports how reliable the detection is.");
}

void add_trace_options(Command& command, TraceOptions& options) {
  command.option("--buffer", &options.buffer, "NAME",
                 "Read only the buffer (instance) NAME of a trace with several buffers\n`trace-cmd record -B NAME` "
                 "creates such buffers. The main buffer has no name. By default all buffers are read together.",
                 {.may_be_empty = true});
  add_abi_option(command, options.abi);
  command.flag("--no-progress{false}", &options.progress, "Show no progress line on the terminal");
}

void add_threads_option(Command& command, unsigned& threads, const std::string& help) {
  command.option("--threads", &threads, "N", help, {.range = OptionRange{1, 64}});
}

void add_limit_option(Command& command, std::size_t& limit, const std::string& what) {
  command.option("--limit,--top", &limit, "N", fmt::format("Show N {} (default: {}); 0 means all", what, limit),
                 {.range = kCounts});
}

void add_style_options(Command& command, StyleOptions& options) {
  command.flag("--no-color{false}", &options.colour, "Print without colours, even on a terminal");
  command.flag("--ascii", &options.ascii, "Draw with ASCII characters only");
}

void add_result_options(Command& command, ResultOptions& options, const std::string& schema, const std::string& raw) {
  command.flag("--json", &options.json, fmt::format("Print JSON, schema {}", schema));
  command.flag("--raw", &options.style.raw, fmt::format("Print {}, regardless of the terminal width", raw));
  add_style_options(command, options.style);
}

std::unique_ptr<Source> open_for_reading(const TraceOptions& options) {
  OpenOptions opening{options.buffer, {}, options.abi};
  opening.call_records = options.call_records;
  if (options.files.empty()) return open_for_reading(default_trace(), opening);
  opening.more_files.assign(options.files.begin() + 1, options.files.end());
  return open_for_reading(options.files.front(), opening);
}

}  // namespace kmt
