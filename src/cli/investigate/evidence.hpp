// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the evidence of an investigation in a file. `investigate --from` reads the file and reaches the same verdicts.
#pragma once

#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kEvidenceFile = "evidence.json";

// Returns the evidence, except the trace, which is in another file. Takes only those parts of `result` that are known
// before any verdict.
std::string json_evidence(const InvestigationResult& result, const InvestigationEvidence& evidence);
// Reads a file that json_evidence() has written. Throws Error if the file is not such a file.
void read_evidence(const std::string& path, InvestigationResult& result, InvestigationEvidence& evidence);

}  // namespace kmt
