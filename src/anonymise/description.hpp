// SPDX-License-Identifier: GPL-2.0-or-later
// What a trace says of its machine, without what tells which machine it is, who works on it and where things lie.
#pragma once

#include <string>
#include <vector>

#include "anonymise/code_layout.hpp"
#include "anonymise/pseudonyms.hpp"
#include "formats/trace_description.hpp"

namespace kmt {

// Everything but the event formats, which are the kernel's, and the code of processes: SECURITY.md says what becomes
// of what. What is not known is left out; its names are added to `left_out`.
TraceDescription anonymous(const TraceDescription& description, const Pseudonyms& pseudonyms, const CodeLayout& code,
                           std::vector<std::string>& left_out);

}  // namespace kmt
