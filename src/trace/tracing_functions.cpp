// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tracing_functions.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace kmt {

bool is_tracing_function(std::string_view name) {
  constexpr std::array<std::string_view, 17> kBegins = {"bpf_prog_",           "bpf_trace_run",
                                                        "__bpf_trace_",        "__traceiter_",
                                                        "trace_call_bpf",      "bpf_get_stack",
                                                        "perf_trace_",         "__perf_trace",
                                                        "do_perf_trace_",      "perf_tp_event",
                                                        "__probestub_",        "trace_event_raw_event_",
                                                        "__do_trace_",         "do_trace_event_raw_event_",
                                                        "trace_event_buffer_", "stack_trace_save",
                                                        "__ftrace_trace_stack"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

std::size_t leading_tracing_frames(std::span<const std::uint64_t> frames, const SymbolNames& symbols) {
  std::size_t tracing = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string name = symbols.name(frames[i]);
    if (is_tracing_function(name))
      tracing = i + 1;
    else if (!name.starts_with("bpf_") && !name.starts_with("0x"))
      break;
  }
  return tracing;
}

}  // namespace kmt
