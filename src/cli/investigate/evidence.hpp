// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the evidence of an investigation in a file. `investigate --from` reads the file and reaches the same verdicts.
#pragma once

#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kEvidenceFile = "evidence.json";

// Returns the evidence, except the trace, which is in another file. Uses only those members of `result` that are known
// before the verdict.
std::string json_evidence(const InvestigationResult& result, const InvestigationEvidence& evidence);
// Reads a file that json_evidence() has written. Throws Error if the file has another format.
void read_evidence(const std::string& path, InvestigationResult& result, InvestigationEvidence& evidence);

}  // namespace kmt
