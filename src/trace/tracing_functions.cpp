// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tracing_functions.hpp"

#include <algorithm>
#include <array>

namespace kmt {

bool is_tracing_function(std::string_view name) {
  constexpr std::array<std::string_view, 10> kBegins = {
      "bpf_prog_",   "bpf_trace_run", "__bpf_trace_",   "__traceiter_",  "trace_call_bpf",
      "perf_trace_", "__perf_trace",  "do_perf_trace_", "perf_tp_event", "__probestub_"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace kmt
