// SPDX-License-Identifier: GPL-2.0-or-later
// Sets the option funcgraph-args of function_graph (since Linux 6.15). Before Linux 6.19, all instances share this
// option. If a recorder sets the option, kmemtrace must unset it later, even if the recorder was killed.
#pragma once

#include <string>

namespace kmt {

// Sets the option in kmemtrace's own instance, which must use the function_graph tracer. If this changes the option for
// all instances, leaves a mark in the instance. Throws Error.
void set_arguments_option(const std::string& tracefs, const std::string& instance);

// True if the instance has the mark of set_arguments_option().
bool has_set_arguments_option(const std::string& instance);

// Unsets the option for all instances, if the kernel has the option. If another kmemtrace instance uses the option,
// that instance receives the mark and unsets the option later. If function_graph of another user uses it, the option
// stays set.
void unset_arguments_option(const std::string& tracefs);

}  // namespace kmt
