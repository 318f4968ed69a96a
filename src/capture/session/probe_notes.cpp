// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/probe_notes.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/code/untraced_paths.hpp"

namespace kmt {

// True if kallsyms contains the function. A line of kallsyms is "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]".
bool has_function(const KernelDescription& kernel, std::string_view function) {
  return kernel.kallsyms.empty() || kernel.kallsyms.find(fmt::format(" {}\n", function)) != std::string::npos;
}

void note_unprobed(KernelDescription& kernel, std::span<const std::string_view> functions, std::string_view reason) {
  if (functions.empty()) return;
  std::string& note = kernel.notes["unprobed_functions"];
  note += fmt::format("{}{}(): {}", note.empty() ? "" : "; ", fmt::join(functions, "(), "), reason);
}

void note_all_unprobed(KernelDescription& kernel, std::string_view reason) {
  std::vector<std::string_view> functions;
  for (const FunctionProbe& probe : function_probes())
    if (has_function(kernel, probe.function)) functions.push_back(probe.function);
  note_unprobed(kernel, functions, reason);
}

}  // namespace kmt
