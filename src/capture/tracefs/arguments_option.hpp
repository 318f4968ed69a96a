// SPDX-License-Identifier: GPL-2.0-or-later
// The option funcgraph-args of function_graph since Linux 6.15. Before 6.19 all instances share it: a recorder that
// sets it must unset it, whatever ends the recorder.
#pragma once

#include <string>

namespace kmt {

// Sets it in an instance of our own with the function_graph tracer. If this changes it for all instances, the instance
// keeps a note. Throws Error.
void set_arguments_option(const std::string& tracefs, const std::string& instance);

// True if the instance has that note.
bool has_set_arguments_option(const std::string& instance);

// Unsets it for all instances, if the kernel has the option. If another instance of ours uses it, that one unsets it
// later; if another user's function_graph does, it stays set.
void unset_arguments_option(const std::string& tracefs);

}  // namespace kmt
