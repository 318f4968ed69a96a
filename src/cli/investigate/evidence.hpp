// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the evidence of an investigation in a file, so that `investigate --from` reaches the same verdicts.
#pragma once

#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kEvidenceFile = "evidence.json";

// Returns all evidence except the trace, which is in another file. From `result`, it takes only the parts known before
// any verdict.
std::string json_evidence(const InvestigationResult& result, const InvestigationEvidence& evidence);
// Throws Error if json_evidence() did not write the file.
void read_evidence(const std::string& path, InvestigationResult& result, InvestigationEvidence& evidence);

}  // namespace kmt
