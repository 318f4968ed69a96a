// SPDX-License-Identifier: GPL-2.0-or-later
// The observations of an investigation as a file of its folder, so that `investigate --from` reaches the same verdicts.
#pragma once

#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kEvidenceFile = "evidence.json";

// All except the trace, which is another file; of the result, the parts known before any verdict.
std::string json_evidence(const InvestigationResult& result, const InvestigationEvidence& evidence);
// Throws Error for a file that json_evidence() did not write.
void read_evidence(const std::string& path, InvestigationResult& result, InvestigationEvidence& evidence);

}  // namespace kmt
