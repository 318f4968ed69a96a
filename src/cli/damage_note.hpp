// SPDX-License-Identifier: GPL-2.0-or-later
// For results that are carried away without the trace's own report: what the trace lacks is said on stderr.
#pragma once

#include <string_view>

#include "results/report.hpp"
#include "trace/imperfections.hpp"

namespace kmt {

// Nothing is said of a whole trace.
void say_damage(const Findings& findings);
// Of a result, "export", that Ctrl+C made one of a part.
void say_interrupted(std::string_view result);

// Where the keys ask for cgroups and no row is of another than the root.
void say_lack_of_cgroups(const ReportResult& result);

}  // namespace kmt
