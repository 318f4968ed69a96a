// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences about the result of an investigation. The HTML, text and JSON views all use these sentences.
#pragma once

#include <string>
#include <string_view>

#include "results/growth/investigation.hpp"

namespace kmt {

std::string conclusion_words(const InvestigationResult& result);
// Returns a text such as "195.3 KiB/s in do_pipe2 (call site alloc_pipe_info+0x52), by leaky (pid 7)".
std::string cause_words(const GrowthFinding& finding);
// Returns a text such as "leaky (pid 7)", "mount (pid 9, ended)" or "[softirq]".
std::string process_words(const FindingProcess& process);
// Returns the name of the process of a finding. If no single process stands for the finding, returns the number of
// processes: "mount (24 processes, all ended)".
std::string process_words(const GrowthFinding& finding);
std::string words_of(const Reason& reason);
// Returns "Large slab cache that does not grow: kmalloc-192, 153.2 MiB, 7.5% of memory. 99% of its objects are …".
std::string words_of(const LargeCache& cache);
// Returns a name such as "session_ops (struct leaked_session) of module leaky".
std::string full_name_of(const SlabKind& kind);
std::string_view words_of(NoAccount why);

}  // namespace kmt
