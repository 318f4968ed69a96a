// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the back end that can record calls of kernel functions here, by probing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kmt {

enum class CallBackendKind : std::uint8_t { bpf, function_graph, kprobe_events };

struct CallBackend {
  CallBackendKind kind = CallBackendKind::bpf;
  std::string why;  // why the preferred back end is not used; empty if it is used, or if the user chose the back end
};

// Returns the kernel's list of traceable functions: available_filter_functions_addrs, or available_filter_functions on
// kernels without the first file. If no function can be traced, throws Error (unsupported). The message states what
// `backend` lacks; for "auto", what all back ends lack.
std::string traceable_functions(const std::string& tracefs, const std::string& backend);

// Returns why no function can be traced here; empty if functions can be traced.
std::string why_no_functions(const std::string& tracefs);

// Returns a sentence that states why BPF cannot record calls here and what would help; empty if no obstacle is known.
std::string why_not_by_bpf();
std::string why_not_by_function_graph(const std::string& tracefs);
std::string why_not_by_kprobe_events(const std::string& tracefs);

// Needs of a recording that not every back end can meet on every kernel.
struct CallNeeds {
  bool memory = false;   // true: values are read from memory that arguments point to
  bool results = false;  // true: filters use results
  std::size_t functions = 0;
  bool arguments = false;  // true: filters use arguments
  bool shown_results = false;
};

// Returns the back end for recording calls. `name` is bpf, ftrace, kprobe or auto. With auto, the function chooses the
// first of these that works and meets the needs. Before Linux 6.15, ftrace records no arguments, and it records results
// only with a kernel option. On such kernels, kprobe events are preferred to ftrace if they can record all functions.
// Throws Error (unsupported).
CallBackend choose_call_backend(const std::string& tracefs, const std::string& name, CallNeeds needs);
// Chooses the back end as choose_call_backend() does for "auto", but never BPF. `why_not` is the reason why BPF cannot
// be used.
CallBackend choose_call_backend_but_bpf(const std::string& tracefs, const std::string& why_not, CallNeeds needs);

}  // namespace kmt
