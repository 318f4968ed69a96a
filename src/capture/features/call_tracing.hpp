// SPDX-License-Identifier: GPL-2.0-or-later
// Whether calls of kernel functions can be recorded here, and by what. Everything is found by looking.
#pragma once

#include <string>

namespace kmt {

struct CallBackend {
  bool by_bpf = true;       // else ftrace's function_graph
  std::string why_not_bpf;  // where that was not asked for
};

// The text of available_filter_functions_addrs, or of available_filter_functions where the kernel does not have that.
// Throws Error (unsupported) where the kernel traces no functions.
std::string traceable_functions(const std::string& tracefs);

// Why no function can be traced here; empty: they can.
std::string why_no_functions(const std::string& tracefs);

// Why calls cannot be recorded so here, and what would help, in a sentence; empty: nothing is known against it.
std::string why_not_by_bpf();
std::string why_not_by_function_graph(const std::string& tracefs);

// `name` is bpf, ftrace or auto: BPF where it works, else ftrace. Throws Error (unsupported).
CallBackend choose_call_backend(const std::string& tracefs, const std::string& name);

}  // namespace kmt
