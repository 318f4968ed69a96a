// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/tracing_functions.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace kmt {

namespace {

// True for names like bpf_prog_TAG_NAME, but not for bpf_prog_alloc(). See bpf_get_prog_name() in kernel/bpf/core.c,
// Linux 6.18.
bool is_bpf_program(std::string_view name) {
  constexpr std::string_view kBegin = "bpf_prog_";
  constexpr std::size_t kTag = 16;
  if (!name.starts_with(kBegin) || name.size() < kBegin.size() + kTag) return false;
  const std::string_view tag = name.substr(kBegin.size(), kTag);
  return tag.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

bool is_tracing_function(std::string_view name) {
  constexpr std::array<std::string_view, 16> kBegins = {"bpf_trace_run",
                                                        "__bpf_trace_",
                                                        "__traceiter_",
                                                        "trace_call_bpf",
                                                        "bpf_get_stack",
                                                        "perf_trace_",
                                                        "__perf_trace",
                                                        "do_perf_trace_",
                                                        "perf_tp_event",
                                                        "__probestub_",
                                                        "trace_event_raw_event_",
                                                        "__do_trace_",
                                                        "do_trace_event_raw_event_",
                                                        "trace_event_buffer_",
                                                        "stack_trace_save",
                                                        "__ftrace_trace_stack"};
  return is_bpf_program(name) || std::any_of(kBegins.begin(), kBegins.end(),
                                             [name](std::string_view begin) { return name.starts_with(begin); });
}

std::span<const std::uint64_t> without_tracing(std::span<const std::uint64_t> frames, std::uint64_t call_site,
                                               const SymbolNames& symbols) {
  const auto site = std::find(frames.begin(), frames.end(), call_site);
  if (call_site != 0 && site != frames.end()) return frames.subspan(static_cast<std::size_t>(site - frames.begin()));
  std::size_t tracing = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string name = symbols.name(frames[i]);
    if (is_tracing_function(name))
      tracing = i + 1;
    else if (!name.starts_with("bpf_") && !name.starts_with("0x"))
      break;
  }
  return frames.subspan(tracing);
}

}  // namespace kmt
