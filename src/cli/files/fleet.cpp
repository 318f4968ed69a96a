// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace fleet
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/files/export_clickhouse.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse_time.hpp"
#include "cli/support/suggest.hpp"
#include "fleet/account.hpp"
#include "fleet/queries.hpp"
#include "fleet/schema.hpp"
#include "views/json/fleet.hpp"
#include "views/text/fleet.hpp"

namespace kmt {

namespace {

struct FleetArguments {
  std::string what;
  std::string server;
  std::string cluster;
  std::string retry;
  std::string by;
  std::vector<std::string> hosts;
  std::vector<std::string> kernels;
  std::string since;
  std::string until;
  std::string a;
  std::string b;
  std::string sort;
  FleetOptions view;
  ResultOptions result;
};

constexpr const char* kFleetFooter = R"(Examples:
  kmemtrace export big.kmt --to clickhouse http://db1:8123        load a trace; doing it again is harmless
  kmemtrace fleet traces --server http://db1:8123                 what is loaded
  kmemtrace fleet report --server http://db1:8123 --by cache      who allocates, on all hosts together
  kmemtrace fleet leaks --server http://db1:8123 --by version,function      what grew on which kernel version
  kmemtrace fleet diff --server http://db1:8123 --a kernel=6.1.* --b kernel=6.12.*
  kmemtrace export week.kmt --to clickhouse http://db1:8123       load a series of `kmemtrace snapshot --every`
  kmemtrace fleet account --server http://db1:8123                what grows on which hosts and since which kernel
  kmemtrace fleet schema --server http://db1:8123 --cluster fleet      once on each server of a cluster

Queries:
  report  groups of allocations, summed up over hosts and traces
  leaks   memory live at the end of the traces, and its growth during the traces
  diff    two parts of the fleet (--a and --b), compared per second
  traces  the loaded traces
  account growth of kernel memory in series of snapshots: which amounts, on which hosts, since which kernel
  schema  create the tables; loading also does this, but a cluster needs it on each server

The URL of a server is http://[USER:PASSWORD@]HOST:PORT/[DATABASE]. The default database is kmemtrace. To keep the user
and password private, set CLICKHOUSE_USER and CLICKHOUSE_PASSWORD, or use ~/.netrc.

In report, --since and --until select the events in this time and the memory live at its end. In the other queries, they
select the traces that started in this time.

Exit status:
  0  answered
  2  wrong usage, no data, or the server cannot be reached)";

std::vector<const FleetKeyInfo*> keys_of(const std::string& text, const std::string& usual) {
  std::vector<const FleetKeyInfo*> keys;
  std::vector<std::string> names;
  for (const FleetKeyInfo& key : fleet_keys()) names.emplace_back(key.name);
  const std::string& wanted = text.empty() ? usual : text;
  for (const std::string_view name : split(wanted, ',')) {
    const auto found = std::ranges::find(fleet_keys(), name, &FleetKeyInfo::name);
    if (found == fleet_keys().end()) throw unknown_name("Cannot group by", std::string(name), names);
    if (std::ranges::find(keys, &*found) != keys.end())
      throw Error(fmt::format("The key {} is given twice", name)).hint("Name each key once: version,function");
    keys.push_back(&*found);
  }
  return keys;
}

// Returns the selection unchanged. Throws Error if its time range is empty.
FleetSelection checked(FleetSelection selection) {
  if (selection.since && selection.until && *selection.since >= *selection.until)
    throw Error("--since must be before --until")
        .hint("The selected time starts at --since TIME and ends before --until TIME");
  return selection;
}

FleetSelection selection_of(const FleetArguments& options) {
  FleetSelection selection{options.hosts, options.kernels, {}, {}};
  if (!options.since.empty()) selection.since = parse_utc(options.since);
  if (!options.until.empty()) selection.until = parse_utc(options.until);
  return checked(std::move(selection));
}

// Parses the value of an option that selects one side of a diff: "kernel=6.1.*,host=web*".
FleetSelection side_of(const std::string& text, std::string_view option) {
  FleetSelection side;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t at = part.find('=');
    const std::string_view name = part.substr(0, at);
    const std::string value(at == std::string_view::npos ? std::string_view() : part.substr(at + 1));
    if (!value.empty() && name == "host")
      side.hosts.push_back(value);
    else if (!value.empty() && name == "kernel")
      side.kernels.push_back(value);
    else if (!value.empty() && name == "since")
      side.since = parse_utc(value);
    else if (!value.empty() && name == "until")
      side.until = parse_utc(value);
    else
      throw Error(fmt::format("{} cannot be \"{}\"", option, printable(text)))
          .hint("Write host=GLOB, kernel=GLOB, since=TIME and until=TIME, separated by commas");
  }
  return checked(std::move(side));
}

template <typename Result>
void show(const Result& result, const FleetArguments& options, const FleetOptions& view) {
  print_result(options.result.json ? json_fleet(result, view)
                                   : text_fleet(result, view, stdout_style(options.result.style)));
}

void report(ClickHouse& server, const FleetArguments& options) {
  FleetOptions view = options.view;
  view.sort_report = &column_named(pointers_to(fleet_columns()), options.sort.empty() ? "allocated" : options.sort);
  show(fleet_report(server, selection_of(options), keys_of(options.by, "function")), options, view);
}

void leaks(ClickHouse& server, const FleetArguments& options) {
  FleetOptions view = options.view;
  view.sort_leaks = &column_named(pointers_to(fleet_leak_columns()), options.sort.empty() ? "sure" : options.sort);
  show(fleet_leaks(server, selection_of(options), keys_of(options.by, "function")), options, view);
}

void diff(ClickHouse& server, const FleetArguments& options) {
  if (options.a.empty() || options.b.empty())
    throw Error("fleet diff needs two sides").hint("--a kernel=6.1.* --b kernel=6.12.*");
  FleetOptions view = options.view;
  view.sort_diff = &column_named(fleet_diff_columns(), options.sort.empty() ? "allocated" : options.sort,
                                 "No such comparable column");
  show(fleet_diff(server, selection_of(options), side_of(options.a, "--a"), side_of(options.b, "--b"),
                  keys_of(options.by, "function")),
       options, view);
}

void traces(ClickHouse& server, const FleetArguments& options) {
  show(fleet_traces(server, selection_of(options)), options, options.view);
}

void account(ClickHouse& server, const FleetArguments& options) {
  show(fleet_account(server, selection_of(options)), options, options.view);
}

void schema(ClickHouse& server, const FleetArguments& options) {
  const SchemaState state = prepare_schema(server, options.cluster);
  const std::string done = state.before == 0           ? "were created"
                           : state.before == state.now ? "existed already"
                                                       : fmt::format("were changed from schema {}", state.before);
  print_result(fmt::format("The tables of the database {} {}: schema {}{}\n", printable(server.database()), done,
                           state.now, state.of_cluster ? ", for this shard and for the cluster" : ""));
}

struct Question {
  std::string_view name;
  void (*ask)(ClickHouse&, const FleetArguments&);
  std::string_view options;  // names of the options that this report accepts
};
constexpr std::array kQuestions = {
    Question{"report", report, " --host --kernel --since --until --by --sort --limit --json "},
    Question{"leaks", leaks, " --host --kernel --since --until --by --sort --limit --json "},
    Question{"diff", diff,
             " --a --b --threshold --min-count --host --kernel --since --until --by --sort --limit --json "},
    Question{"traces", traces, " --host --kernel --since --until --limit --json "},
    Question{"account", account, " --host --kernel --since --until --limit --json "},
    Question{"schema", schema, " --cluster "}};

void check_options(const Command& command, const Question& question) {
  for (const char* const option : {"--host", "--kernel", "--since", "--until", "--limit", "--json", "--by", "--sort",
                                   "--a", "--b", "--threshold", "--min-count", "--cluster"})
    if (command.has(option) && question.options.find(fmt::format(" {} ", option)) == std::string_view::npos)
      throw Error(fmt::format("{} has no effect on fleet {}", option, question.name))
          .hint("`kmemtrace fleet --help` shows which subcommands accept the option");
}

void run(const Command& command, const FleetArguments& options) {
  std::vector<std::string> names;
  for (const Question& question : kQuestions) {
    names.emplace_back(question.name);
    if (question.name != options.what) continue;
    check_options(command, question);
    ClickHouse server(server_at(options.server, options.retry));
    return question.ask(server, options);
  }
  throw unknown_name("Unknown subcommand of fleet:", options.what, names);
}

std::string keys_help() {
  std::string text = "Group by KEYS, nested if several: version,function (default: function)";
  for (const FleetKeyInfo& key : fleet_keys()) text += fmt::format("\n  {:<9} {}", key.name, key.meaning);
  return text;
}

std::string sort_help() {
  return "Sort groups by COLUMN, largest first (default: allocated; for leaks: sure)\nColumns of report:" +
         list_of(pointers_to(fleet_columns())) + "\nColumns of leaks:" + list_of(pointers_to(fleet_leak_columns())) +
         "\nColumns of diff, by change:" + list_of(fleet_diff_columns());
}

}  // namespace

Command fleet_command() {
  const auto options = std::make_shared<FleetArguments>();
  Command command{"fleet", "Query a server with traces of many machines.", kFleetFooter,
                  [options](const Command& given) {
                    run(given, *options);
                    return 0;
                  }};
  command.argument("WHAT", &options->what, "report, leaks, diff, traces, account or schema", {.required = true});
  command.option("--server", &options->server, "URL",
                 "Connect to the ClickHouse server http://HOST:8123/\nIn a cluster, URL may be any of the servers.",
                 {.required = true});
  command.option("--by", &options->by, "KEYS", keys_help());
  command.option("--host", &options->hosts, "GLOB",
                 "Select hosts that match GLOB\nGLOB may contain the wildcards * and ?. May be given more than once.",
                 {.repeats = true});
  command.option("--kernel", &options->kernels, "GLOB",
                 "Select kernels whose release matches GLOB: 6.1.*\nMay be given more than once.", {.repeats = true});
  command.option("--since", &options->since, "TIME",
                 "Select data from TIME on: 2026-11-21, 2026-11-21T12:13, 2026-11-21T12:13:14Z\nTimes are in UTC.");
  command.option("--until", &options->until, "TIME", "Select data before TIME");
  command.option("--a", &options->a, "PART",
                 "Use this part of the fleet as the base of the comparison: kernel=6.1.*,host=web*\n(diff only) host=, "
                 "kernel=, since= and until= apply in addition to the other options.");
  command.option("--b", &options->b, "PART", "Compare this part of the fleet with that of --a (diff only)");
  command.option("--threshold", &options->view.noise.percent, "PERCENT",
                 "Ignore changes below PERCENT (default: 5)\n(diff only) The same as in `kmemtrace diff`.",
                 {.range = OptionRange{0, 10'000}});
  command.option("--min-count", &options->view.noise.least_count, "N",
                 "Ignore groups with fewer than N allocations (default: 10) (diff only)", {.range = kCounts});
  command.option("--sort", &options->sort, "COLUMN", sort_help());
  add_limit_option(command, options->view.limit, "rows in each table");
  command.option("--cluster", &options->cluster, "NAME",
                 "Create tables over all shards of the cluster NAME\n(schema only) The configuration of the server "
                 "must define NAME (remote_servers).");
  command.option("--retry", &options->retry, "DURATION",
                 "Retry for DURATION to reach the server (default: 2m)\nWith 0s, there is only one attempt.");
  add_result_options(command, options->result, "kmemtrace.fleet/1", "plain digits and full names");
  return command;
}

}  // namespace kmt
