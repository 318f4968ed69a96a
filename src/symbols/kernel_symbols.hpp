// SPDX-License-Identifier: GPL-2.0-or-later
// The symbols of the traced kernel, as the text of its /proc/kallsyms: the trace's own, or where it has none
// (perf.data) those of a file that the user names, or of the running kernel if it is the one that was traced.
#pragma once

#include <string>

#include "trace/trace_info.hpp"

namespace kmt {

struct KernelSymbolFiles {
  std::string kallsyms;  // named by the user; empty: none
  std::string vmlinux;   // likewise
  std::string running_notes = "/sys/kernel/notes";
  std::string running_kallsyms = "/proc/kallsyms";
};

// Empty where the trace's own symbols are used, or none are known. A kernel lies elsewhere after each boot (KASLR): by
// the note `kernel_reference` of the trace (docs/formats/kmt.md) the kernel's own symbols are moved to where they were;
// those of modules are left out then. Another kernel's symbols are never taken unasked: the running one's only with the
// build-id of the trace. The findings tell what was taken. Throws Error where a named file cannot be read, has no
// symbols, is known to be of another kernel, or is not needed.
std::string symbols_from_elsewhere(const TraceInfo& info, const KernelSymbolFiles& files, Findings& findings);

}  // namespace kmt
