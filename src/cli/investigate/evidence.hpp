// SPDX-License-Identifier: GPL-2.0-or-later
// What an investigation watched, as a file of its folder: so `investigate --from` judges the same again.
#pragma once

#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kEvidenceFile = "evidence.json";

// All but the trace, which is a file of its own; of the result what was known before anything was judged.
std::string json_evidence(const InvestigationResult& result, const InvestigationEvidence& evidence);
// Throws Error where the file is not what json_evidence() wrote.
void read_evidence(const std::string& path, InvestigationResult& result, InvestigationEvidence& evidence);

}  // namespace kmt
