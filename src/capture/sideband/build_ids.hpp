// SPDX-License-Identifier: GPL-2.0-or-later
// Reads build IDs of the kernel and its modules, and the addresses of modules' code. They are needed to find debug info
// and to place it at the right addresses. docs/formats/kmt.md, "Notes", describes the texts. The paths are parameters,
// so that tests can use other folders.
#pragma once

#include <string>

namespace kmt {

// Returns the build ID in hex; empty if the kernel does not show it.
std::string kernel_build_id(const std::string& notes = "/sys/kernel/notes");
// Returns lines "MODULE BUILD-ID" for the loaded modules that have a build ID (MODULE/notes/.note.gnu.build-id).
std::string module_build_ids(const std::string& modules = "/sys/module");
// Returns lines "MODULE SECTION ADDRESS" for sections with "text" in their names, which have code. This requires root,
// and kernel.kptr_restrict below 2; otherwise returns an empty text.
std::string module_sections(const std::string& modules = "/sys/module");

}  // namespace kmt
