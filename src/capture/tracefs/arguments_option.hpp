// SPDX-License-Identifier: GPL-2.0-or-later
// The option funcgraph-args, which function_graph has since Linux 6.15. Before 6.19 it is one of all instances: so who
// has set it for a recording unsets it afterwards, whatever ended the recorder.
#pragma once

#include <string>

namespace kmt {

// Sets it in an instance of our own, which has it and whose tracer is function_graph. That this has changed it for all
// is noted in the instance itself. Throws Error.
void set_arguments_option(const std::string& tracefs, const std::string& instance);

// Whether that is noted there.
bool has_set_arguments_option(const std::string& instance);

// Of all instances; does nothing where the kernel has none. Where another instance of ours uses it, that one is told to
// unset it when it goes; where somebody else's function_graph does, it stays set.
void unset_arguments_option(const std::string& tracefs);

}  // namespace kmt
