// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any text as the evidence file of an investigation. Reading, judging and concluding must not crash, hang or use
// excessive memory. Readable evidence must stay the same when it is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "base/error.hpp"
#include "cli/investigate/evidence.hpp"
#include "memory_file.hpp"
#include "views/common/conclusion.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kmt::InvestigationResult result;
  kmt::InvestigationEvidence evidence;
  try {
    const kmt::MemoryFile file(data, size);
    kmt::read_evidence(file.path(), result, evidence);
  } catch (const kmt::Error&) {
    return 0;  // expected: the evidence is damaged
  }
  const std::string text = kmt::json_evidence(result, evidence);
  kmt::InvestigationResult again;
  kmt::InvestigationEvidence same;
  const kmt::MemoryFile file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  kmt::read_evidence(file.path(), again, same);
  if (kmt::json_evidence(again, same) != text) std::abort();
  result.seconds = evidence.seconds;
  result.judgement = kmt::judge(evidence);
  result.conclusion = kmt::conclude(result);
  (void)kmt::conclusion_words(result);
  return 0;
}
