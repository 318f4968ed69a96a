// SPDX-License-Identifier: GPL-2.0-or-later
// Whether calls of kernel functions can be recorded here, and by what. Everything is found by looking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kmt {

enum class CallBackendKind : std::uint8_t { bpf, function_graph, kprobe_events };

struct CallBackend {
  CallBackendKind kind = CallBackendKind::bpf;
  std::string why;  // not one of those that would come first; empty: it is the first one, or was asked for
};

// The text of available_filter_functions_addrs, or of available_filter_functions where the kernel does not have that.
// Throws Error (unsupported) where the kernel traces no functions, which says what `backend` lacks (auto: all of them).
std::string traceable_functions(const std::string& tracefs, const std::string& backend);

// Why no function can be traced here; empty: they can.
std::string why_no_functions(const std::string& tracefs);

// Why calls cannot be recorded so here, and what would help, in a sentence; empty: nothing is known against it.
std::string why_not_by_bpf();
std::string why_not_by_function_graph(const std::string& tracefs);
std::string why_not_by_kprobe_events(const std::string& tracefs);

// What is asked for that not each way records, or not everywhere.
struct CallNeeds {
  bool memory = false;   // what lies behind arguments
  bool results = false;  // calls are chosen by them
  std::size_t functions = 0;
  bool arguments = false;  // calls are chosen by them
  bool shown_results = false;
};

// `name` is bpf, ftrace, kprobe or auto: the first of these that works, and records what is needed. ftrace records no
// arguments before Linux 6.15, and results only where it was built so: then it comes after kprobe events, where these
// take so many functions. Throws Error
// (unsupported).
CallBackend choose_call_backend(const std::string& tracefs, const std::string& name, CallNeeds needs);
// Where BPF turned out not to work: `why_not`.
CallBackend choose_call_backend_but_bpf(const std::string& tracefs, const std::string& why_not, CallNeeds needs);

}  // namespace kmt
