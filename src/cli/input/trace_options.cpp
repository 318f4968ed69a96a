// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/trace_options.hpp"

#include <fmt/format.h>

#include "cli/input/reading.hpp"

namespace kmt {

void add_file_option(CLI::App& command, TraceOptions& options) {
  command.add_option("FILE", options.files,
                     "The trace (default: trace.kmt, else trace.dat, else cpu0.out and the like)\n"
                     "A .kmt, a trace.dat, a perf.data, text of ftrace or perf, or relay files of kmemtrace, of which "
                     "a folder or several "
                     "files make up one trace. Of any machine. - is standard input.");
}

void add_output_option(CLI::App& command, std::string& path, std::string_view more) {
  command
      .add_option(
          "-o,--output", path,
          fmt::format("Write to FILE (default: -, standard output)\nIt is put in its place when it is whole.{}", more))
      ->option_text("FILE");
}

void add_abi_option(CLI::App& command, std::string& abi) {
  command
      .add_option(
          "--abi", abi,
          "Read relay files of kmemtrace in the layout ABI: v0-le, v1-le, v2-le, v3-64-le or v3-32-le, of big-endian "
          "machines v0-be and so on\nThe files do not say it. Without this it is found out, and `check` says how "
          "surely.")
      ->option_text("ABI");
}

void add_trace_options(CLI::App& command, TraceOptions& options) {
  command
      .add_option("--buffer", options.buffer,
                  "Only this buffer (instance) of a trace with several\n`trace-cmd record -B NAME` makes them; the "
                  "main one has no name. Without it all are read together.")
      ->option_text("NAME");
  add_abi_option(command, options.abi);
  command.add_flag("--no-progress{false}", options.progress, "Show no progress line on the terminal");
}

void add_threads_option(CLI::App& command, unsigned& threads) {
  command
      .add_option("--threads", threads,
                  "Use N threads (default: as many CPUs as there are, at most 4)\nThe result is the same.")
      ->option_text("N")
      ->check(CLI::Range(1u, 64u));
}

CLI::Range count_range() { return {std::size_t{0}, std::size_t{1'000'000'000}}; }

void add_limit_option(CLI::App& command, std::size_t& limit, const std::string& what) {
  command.add_option("--limit,--top", limit, fmt::format("Show N {} (default: {}); 0 means all", what, limit))
      ->option_text("N")
      ->check(count_range());
}

void add_style_options(CLI::App& command, StyleOptions& options) {
  command.add_flag("--no-color{false}", options.colour, "Print without colours, also on a terminal");
  command.add_flag("--ascii", options.ascii, "Draw with ASCII characters only");
}

void add_result_options(CLI::App& command, ResultOptions& options, const std::string& schema, const std::string& raw) {
  command.add_flag("--json", options.json, fmt::format("Print JSON, schema {}", schema));
  command.add_flag("--raw", options.style.raw, fmt::format("Print {}, however wide", raw));
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
