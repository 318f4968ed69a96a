// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/program.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/replaced_file.hpp"

namespace kmt {

namespace {

constexpr const char* kDescription =
    "kmemtrace records who allocates kernel memory. This is the recorder, one file that needs no libraries.";

constexpr const char* kFooter = R"(Quick start, as root:
  kmemtrace record --duration 5s     record five seconds of this machine into trace.kmt
  kmemtrace check trace.kmt          is the trace sound?

Then copy trace.kmt to a machine with the full kmemtrace, whose `report` shows who allocated what.

Exit status:
  0  good
  1  found what the command looks for (check: the trace is not sound)
  2  wrong usage or input
  3  not permitted or not supported here)";

constexpr std::array<std::string_view, 13> kAbsent = {"completion", "diff",        "export",  "flamegraph", "fleet",
                                                      "graph",      "investigate", "leaks",   "pages",      "report",
                                                      "serve",      "simulate",    "timeline"};

int run_nothing(const Command&) {
  throw Error("No command given").hint("`kmemtrace record` records a trace; `kmemtrace -h` lists the commands");
}

}  // namespace

void add_commands(Command& program) {
  program.description = kDescription;
  program.footer = kFooter;
  program.run = run_nothing;
  for (Command (*const make)() : {list_command, record_command, stat_command, top_command, profile_command,
                                  check_command, snapshot_command, convert_command, repair_command})
    add_force(program.commands.emplace_back(make()));
  program.flag("--version", {}, "Show the version");
}

bool has_command(std::string_view name) { return std::ranges::find(kAbsent, name) == kAbsent.end(); }

void refuse_absent_command(std::string_view name) {
  if (!has_command(name))
    throw Error(fmt::format("The recorder has no command \"{}\"", name), ExitCode::unsupported)
        .hint(
            "Copy the trace to a machine with the full kmemtrace, and run the command there (docs/install.md in the "
            "sources)");
}

}  // namespace kmt
