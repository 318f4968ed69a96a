// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands.
#pragma once

#include "cli/support/options.hpp"

namespace kmt {

Command list_command();
Command record_command();
Command stat_command();
Command top_command();
Command profile_command();
Command serve_command();
Command check_command();
Command report_command();
Command pages_command();
Command leaks_command();
Command timeline_command();
Command simulate_command();
Command snapshot_command();
Command investigate_command();
Command diff_command();
Command flamegraph_command();
Command graph_command();
Command export_command();
Command fleet_command();
Command convert_command();
Command repair_command();
// Returns the command `completion`. `program` must contain all commands when this command runs.
Command completion_command(const Command& program);

// Returns kmemtraced, a separate program that records as kmemtraced did in 2008.
Command kmemtraced_program();

}  // namespace kmt
