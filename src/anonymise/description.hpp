// SPDX-License-Identifier: GPL-2.0-or-later
// Anonymises a trace's description of its machine. Removes everything that identifies the machine, its users, or file
// locations.
#pragma once

#include <string>
#include <vector>

#include "anonymise/code_layout.hpp"
#include "anonymise/pseudonyms.hpp"
#include "formats/trace_description.hpp"

namespace kmt {

// Anonymises all facts except event formats, which only describe the kernel. Drops the user memory: see UserLayout.
// SECURITY.md lists what happens to each fact. Unknown facts are dropped, and their names are added to `omitted`.
TraceDescription anonymous(const TraceDescription& description, const Pseudonyms& pseudonyms, const CodeLayout& code,
                           std::vector<std::string>& omitted);

}  // namespace kmt
