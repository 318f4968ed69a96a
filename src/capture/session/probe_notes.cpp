// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/probe_notes.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/code/untraced_paths.hpp"

namespace kmt {

namespace {

// The names before Linux 6.10 of functions that have probes on later kernels.
struct OldFunction {
  std::string_view name;
  std::string_view later;
};
constexpr std::array kOldFunctions = {
    OldFunction{"kmem_cache_alloc_bulk", kBulkAllocFunction},
    OldFunction{"__alloc_pages_bulk", kBulkPagesFunction},
    OldFunction{"alloc_contig_range", kOldPageRangeFunction},
};

std::vector<std::string_view> old_functions(const KernelDescription& kernel) {
  std::vector<std::string_view> found;
  if (kernel.kallsyms.empty()) return found;
  for (const OldFunction& function : kOldFunctions)
    if (has_function(kernel, function.name) && !has_function(kernel, function.later)) found.push_back(function.name);
  return found;
}

}  // namespace

bool has_function(const KernelDescription& kernel, std::string_view function) {
  return kernel.kallsyms.empty() || kernel.kallsyms.has_function(function);
}

void note_unprobed(KernelDescription& kernel, std::span<const std::string_view> functions, std::string_view reason) {
  if (functions.empty()) return;
  std::string& note = kernel.notes["unprobed_functions"];
  note += fmt::format("{}{}(): {}", note.empty() ? "" : "; ", fmt::join(functions, "(), "), reason);
}

void note_old_functions(KernelDescription& kernel) {
  note_unprobed(kernel, old_functions(kernel), "a probe needs Linux 6.10");
}

void note_all_unprobed(KernelDescription& kernel, std::string_view reason) {
  std::vector<std::string_view> functions = old_functions(kernel);
  for (const FunctionProbe& probe : function_probes())
    if (has_function(kernel, probe.function)) functions.push_back(probe.function);
  note_unprobed(kernel, functions, reason);
}

}  // namespace kmt
