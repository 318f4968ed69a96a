// SPDX-License-Identifier: GPL-2.0-or-later
// A trace's description of its machine, without anything that identifies the machine, its users, or places of files.
#pragma once

#include <string>
#include <vector>

#include "anonymise/code_layout.hpp"
#include "anonymise/pseudonyms.hpp"
#include "formats/trace_description.hpp"

namespace kmt {

// Covers everything except the event formats, which are the kernel's, and the code of processes. SECURITY.md lists what
// happens to each fact. Unknown facts are left out; their names are added to `left_out`.
TraceDescription anonymous(const TraceDescription& description, const Pseudonyms& pseudonyms, const CodeLayout& code,
                           std::vector<std::string>& left_out);

}  // namespace kmt
