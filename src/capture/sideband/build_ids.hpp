// SPDX-License-Identifier: GPL-2.0-or-later
// Build IDs of the kernel and its modules, and the addresses of modules' code, which serve to find and place debug
// info. As notes of a trace: docs/formats/kmt.md, "Notes". The paths are parameters for tests.
#pragma once

#include <string>

namespace kmt {

// In hex; empty if the kernel does not show it.
std::string kernel_build_id(const std::string& notes = "/sys/kernel/notes");
// Lines "MODULE BUILD-ID" of the loaded modules that have one (MODULE/notes/.note.gnu.build-id).
std::string module_build_ids(const std::string& modules = "/sys/module");
// Lines "MODULE SECTION ADDRESS" of code sections, those with `text` in their names. Empty without permission (root,
// and kernel.kptr_restrict below 2).
std::string module_sections(const std::string& modules = "/sys/module");

}  // namespace kmt
