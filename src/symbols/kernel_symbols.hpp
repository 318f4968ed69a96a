// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the symbols of the traced kernel, as a text with the format of /proc/kallsyms. Most traces contain the symbols.
// For other traces, such as perf.data, the symbols are from a file that the user names, or from the running kernel if
// it is the traced kernel.
#pragma once

#include <string>

#include "trace/trace_info.hpp"

namespace kmt {

struct KernelSymbolFiles {
  std::string kallsyms;  // path of the file that the user names; empty if none
  std::string vmlinux;   // path of a file with the kernel's debug info; empty if none
  std::string running_notes = "/sys/kernel/notes";
  std::string running_kallsyms = "/proc/kallsyms";
};

// Finds symbols for a trace without symbols, in `files`. Returns nothing if the trace has symbols, or if no file has
// the right symbols. Each boot moves the kernel to other addresses (KASLR). So the addresses of the symbols are
// corrected with the note `kernel_reference` in the trace (docs/formats/kmt.md). Corrected symbols do not include those
// of modules. The symbols of the running kernel are used only if its build ID is the one in the trace. The findings say
// which symbols were used. Throws Error if a file that the user names cannot be read, has no symbols, or is known to be
// of another kernel. Also throws Error if the user names a kallsyms file although the trace has symbols.
std::string symbols_from_elsewhere(const TraceInfo& info, const KernelSymbolFiles& files, Findings& findings);

}  // namespace kmt
