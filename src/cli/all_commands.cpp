// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.hpp"
#include "cli/program.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/replaced_file.hpp"

namespace kmt {

namespace {

constexpr const char* kDescription =
    "kmemtrace shows who allocates kernel memory, how much of it is wasted, where it is freed, and what is never "
    "freed.";

constexpr const char* kMainFooter = R"(Quick start, as root:
  kmemtrace record --duration 5s     record five seconds of this machine into trace.kmt
  kmemtrace report                   who allocated what, from trace.kmt
  kmemtrace check trace.kmt          is the trace sound?

Traces from any machine can be read here, with any architecture, byte order and word size.

Exit status:
  0  good
  1  found what the command looks for (check: the trace is not sound; leaks: something grows)
  2  wrong usage or input
  3  not permitted or not supported here)";

int run_nothing(const Command&) {
  throw Error("No command given").hint("`kmemtrace report FILE` reports on a trace; `kmemtrace -h` lists the commands");
}

}  // namespace

void add_commands(Command& program) {
  program.description = kDescription;
  program.footer = kMainFooter;
  program.run = run_nothing;
  for (Command (*const make)() :
       {list_command,     record_command,      stat_command,  top_command,        profile_command,  serve_command,
        check_command,    report_command,      pages_command, leaks_command,      timeline_command, simulate_command,
        snapshot_command, investigate_command, diff_command,  flamegraph_command, graph_command,    export_command,
        fleet_command,    convert_command,     repair_command})
    add_force(program.commands.emplace_back(make()));
  program.commands.push_back(completion_command(program));
  program.flag("--version", {}, "Show the version");
}

bool has_command(std::string_view) { return true; }

void refuse_absent_command(std::string_view) {}

}  // namespace kmt
