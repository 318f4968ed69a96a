// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/given_symbols.hpp"
#include "cli/support/say.hpp"

#include <fmt/format.h>

namespace kmt {

void GivenSymbols::describe(const TraceDescription& description) {
  TraceDescription to = description;
  name_machine(description.uname, to.kernel);
  TraceInfo info;
  info.machine.kernel = to.kernel.release;
  info.code.kallsyms = to.kernel.kallsyms.text();
  info.recording.notes = to.kernel.notes;
  Findings findings;
  if (std::string symbols = symbols_from_elsewhere(info, files_, findings); !symbols.empty())
    to.kernel.kallsyms = std::move(symbols);
  for (const Finding& finding : findings.kept())
    say("note: {}: {}: {}\n", name_, kmt::describe(finding.kind).sentence, finding.detail);
  sink_.describe(to);
}

}  // namespace kmt
