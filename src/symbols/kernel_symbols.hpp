// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the symbols of the traced kernel, as text of /proc/kallsyms. They are the trace's own symbols. If the trace has
// no symbols, as with perf.data, they are from a file that the user names, or from the running kernel if it is the
// traced kernel.
#pragma once

#include <string>

#include "trace/trace_info.hpp"

namespace kmt {

struct KernelSymbolFiles {
  std::string kallsyms;  // file named by the user; empty if none
  std::string vmlinux;   // likewise
  std::string running_notes = "/sys/kernel/notes";
  std::string running_kallsyms = "/proc/kallsyms";
};

// Returns nothing if the trace's own symbols are used, or if no symbols are known. A kernel has other addresses after
// each boot (KASLR). Therefore the kernel's symbols are moved according to the note `kernel_reference` in the trace,
// see docs/formats/kmt.md. In that case, symbols of modules are omitted. Symbols of another kernel are never used
// unless the user names them: the running kernel's symbols are used only if its build ID is that of the trace. The
// findings state which symbols were used. Throws Error if a named file cannot be read, has no symbols, is known to be
// of another kernel, or is not needed.
std::string symbols_from_elsewhere(const TraceInfo& info, const KernelSymbolFiles& files, Findings& findings);

}  // namespace kmt
