// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands. Each function adds one to the app; its callback does the work, sets `exit_code`, and throws Error
// for what main shall print.
//
// Texts for help: the description of a command is one sentence. The first line of an option's description is shown by
// `-h`, all of it by `--help`. The footer of a command (examples, exit status) is shown by `--help`; in it, lines that
// start with a blank stay lines, others are joined to paragraphs.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace kmt {

CLI::App* add_fleet_command(CLI::App& app, int& exit_code);
CLI::App* add_list_command(CLI::App& app, int& exit_code);
CLI::App* add_record_command(CLI::App& app, int& exit_code);
CLI::App* add_stat_command(CLI::App& app, int& exit_code);
CLI::App* add_top_command(CLI::App& app, int& exit_code);
CLI::App* add_profile_command(CLI::App& app, int& exit_code);
CLI::App* add_serve_command(CLI::App& app, int& exit_code);
CLI::App* add_check_command(CLI::App& app, int& exit_code);
CLI::App* add_report_command(CLI::App& app, int& exit_code);
CLI::App* add_pages_command(CLI::App& app, int& exit_code);
CLI::App* add_leaks_command(CLI::App& app, int& exit_code);
CLI::App* add_timeline_command(CLI::App& app, int& exit_code);
CLI::App* add_simulate_command(CLI::App& app, int& exit_code);
CLI::App* add_snapshot_command(CLI::App& app, int& exit_code);
CLI::App* add_diff_command(CLI::App& app, int& exit_code);
CLI::App* add_flamegraph_command(CLI::App& app, int& exit_code);
// `command_words`: what stands behind `--`, which main takes off, since words in front of it are the command's own.
CLI::App* add_graph_command(CLI::App& app, int& exit_code, const std::vector<std::string>& command_words);
CLI::App* add_export_command(CLI::App& app, int& exit_code);
CLI::App* add_convert_command(CLI::App& app, int& exit_code);
CLI::App* add_repair_command(CLI::App& app, int& exit_code);
CLI::App* add_completion_command(CLI::App& app, int& exit_code);

// Of kmemtraced, which is a program's name of its own, not a command.
void add_kmemtraced_options(CLI::App& app, int& exit_code);

}  // namespace kmt
