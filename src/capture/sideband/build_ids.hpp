// SPDX-License-Identifier: GPL-2.0-or-later
// Which build of the kernel and its modules runs, and where the modules' code lies: what debug info is found and placed
// by. As notes of a trace: docs/formats/kmt.md, "Notes". The paths are parameters for tests.
#pragma once

#include <string>

namespace kmt {

// In hex; empty where the kernel does not say.
std::string kernel_build_id(const std::string& notes = "/sys/kernel/notes");
// Lines "MODULE BUILD-ID" of the loaded modules that have one (MODULE/notes/.note.gnu.build-id).
std::string module_build_ids(const std::string& modules = "/sys/module");
// Lines "MODULE SECTION ADDRESS" of the sections whose names have `text` in them: those of code. None without the
// right to read them (root, and kernel.kptr_restrict below 2).
std::string module_sections(const std::string& modules = "/sys/module");

}  // namespace kmt
