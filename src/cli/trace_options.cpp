// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/trace_options.hpp"

#include <fmt/format.h>

#include "cli/reading.hpp"

namespace kmt {

void add_file_option(CLI::App& command, TraceOptions& options) {
  command.add_option(
      "FILE", options.file,
      "The trace (default: trace.kmt, else trace.dat)\nA .kmt, a trace.dat or a perf.data, of any machine.");
}

void add_trace_options(CLI::App& command, TraceOptions& options) {
  command
      .add_option("--buffer", options.buffer,
                  "Only this buffer (instance) of a trace with several\n`trace-cmd record -B NAME` makes them; the "
                  "main one has no name. Without it all are read together.")
      ->option_text("NAME");
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

void add_result_options(CLI::App& command, ResultOptions& options, const std::string& schema, const std::string& raw) {
  command.add_flag("--json", options.json, fmt::format("Print JSON, schema {}", schema));
  command.add_flag("--raw", options.raw, fmt::format("Print {}, however wide", raw));
}

std::unique_ptr<Source> open_for_reading(const TraceOptions& options) {
  return open_for_reading(options.file.empty() ? default_trace() : options.file, OpenOptions{options.buffer});
}

}  // namespace kmt
