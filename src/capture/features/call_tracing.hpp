// SPDX-License-Identifier: GPL-2.0-or-later
// Checks by which back end calls of kernel functions can be recorded here, by probing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kmt {

enum class CallBackendKind : std::uint8_t { bpf, function_graph, kprobe_events };

struct CallBackend {
  CallBackendKind kind = CallBackendKind::bpf;
  std::string why;  // why an earlier back end was not chosen; empty: it is the first, or was requested
};

// Returns available_filter_functions_addrs, or available_filter_functions if the kernel lacks the former. Throws Error
// (unsupported) if the kernel traces no functions, with what `backend` lacks (auto: all of them).
std::string traceable_functions(const std::string& tracefs, const std::string& backend);

// Returns why no function can be traced here; empty if they can.
std::string why_no_functions(const std::string& tracefs);

// Returns in a sentence why BPF cannot record calls here, and what would help; empty if no obstacle is known.
std::string why_not_by_bpf();
std::string why_not_by_function_graph(const std::string& tracefs);
std::string why_not_by_kprobe_events(const std::string& tracefs);

// Needs that some back ends do not meet, or not everywhere.
struct CallNeeds {
  bool memory = false;   // memory that arguments point to
  bool results = false;  // as filters of calls
  std::size_t functions = 0;
  bool arguments = false;  // as filters of calls
  bool shown_results = false;
};

// `name` is bpf, ftrace, kprobe or auto: the first of these that works and meets the needs. ftrace records no arguments
// before Linux 6.15, and results only if built so: then kprobe events precede it, if they take all functions. Throws
// Error (unsupported).
CallBackend choose_call_backend(const std::string& tracefs, const std::string& name, CallNeeds needs);
// For use after BPF failed, with `why_not`.
CallBackend choose_call_backend_but_bpf(const std::string& tracefs, const std::string& why_not, CallNeeds needs);

}  // namespace kmt
