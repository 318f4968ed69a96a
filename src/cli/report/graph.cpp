// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace graph
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "analysis/calls/graph.hpp"
#include "analysis/report/event_stream.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/sideband/build_ids.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/call_result.hpp"
#include "cli/input/reading.hpp"
#include "cli/record/graph.hpp"
#include "cli/report/html.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/say.hpp"
#include "cli/support/suggest.hpp"
#include "cli/support/types_option.hpp"
#include "symbols/call_type_source.hpp"
#include "symbols/running_types.hpp"
#include "views/json/graph.hpp"
#include "views/text/graph.hpp"

namespace kmt {

namespace {

struct GraphArguments {
  std::vector<std::string> words;      // names of files to read, or of functions to record
  std::vector<std::string> processes;  // only the calls of these processes are shown or recorded
  CallRecordOptions recording;
  TraceOptions trace;
  SymbolOptions symbols;
  std::vector<std::string> functions;
  std::optional<unsigned> depth;
  std::string duration;
  std::string sort = "total-time";
  std::size_t limit = 1000;
  std::size_t top = GraphOptions{}.top;
  std::vector<std::string> where;
  std::string btf;
  std::string html;
  bool arguments = false;
  bool return_values = false;
  bool errors_only = false;
  ResultOptions result;
};

constexpr const char* kGraphFooter = R"(Examples:
  kmemtrace graph vfs_read,vfs_write --args --ret -- cat /etc/hostname      records the calls of cat, and shows them
  kmemtrace graph handle_mm_fault -p 812 -d 5s --duration-above 1ms         slow page faults of a process
  kmemtrace graph 'ext4:ext4_file_*' -a --errors-only                       the whole machine, until Ctrl+C
  kmemtrace graph vfs_read --show 'file->f_path.dentry->d_name.name' -- ls  with the names of the files
  kmemtrace graph vfs_read -o reads.kmt -- ls                               keeps the recording in reads.kmt
  trace-cmd record -p function_graph -g do_sys_openat2 -e kmem ls     calls and allocations of opening files
  kmemtrace graph trace.dat                                           shows this recording
  kmemtrace graph trace.dat -F 'kmem_cache_alloc*' --duration-above 50us
  kmemtrace graph trace.dat -F handle_mm_fault --depth 1              one line per call
  kmemtrace graph trace.dat -p 812 --limit 0 | less
  kmemtrace graph trace.dat -F vfs_read --where 'count>=65536' --where 'ret<0' --args
  kmemtrace graph trace.dat --sort slab-live --top 10                 functions that leave most memory allocated
  kmemtrace graph reads.kmt --html reads.html                         a page for a browser
  kmemtrace flamegraph reads.kmt --call-paths -o reads.svg            bytes allocated by path of calls
  kmemtrace export reads.kmt --to perfetto -o reads.pftrace           calls on a time line, for ui.perfetto.dev
  kmemtrace graph trace.dat --json | jq '.functions[] | select(.inside.pages.failed > 0)'

Lines look like those of ftrace, sorted by time: CPU, duration of the call, and function. A horizontal rule shows that a
CPU switched to another task. f(); is a call of f that called no traced function. f() { ... } is a call of f that called
functions which are not shown. The comment after a call shows the memory that its task allocated inside it and its
nested calls, and the part that is still live when it returns:

  1)   8.806 us    |  handle_mm_fault() { ... } /* slab 192 B in 2, none live; pages 4.0 KiB in 1, all live */

Slabs consist of pages, so do not add their bytes. Lines between ==========> and <========== belong to an interrupt. The
call includes the time of the interrupt, but not its allocations. "events were lost" means that events were lost during
the call, so it may have allocated more. "calls may have been missed" means that the start or end of a call was missed
in an unknown task.

With --args and --ret, the types in the trace (or in --btf) decide how values are shown. Integers are shown in decimal,
possible addresses in hex, file modes in octal, and flags and errors by name. Structures passed in registers are shown
by their members, and unknown values as "?". An argument that is in no register is shown as (on the stack, not
recorded). An error is a result from -4095 to -1 of a signed integer, a pointer or an unsigned long, or the flags of a
failed page fault. A string ends at its NUL, at the length given by the next argument, or where it was truncated
("abc"…):

  1)   1.204 us    |  vfs_read(file=0xffff888103a5c000, buf=0x7f12a4c01000, count=4096, pos=0x0) = -11 (EAGAIN);

A string of the program may be on a page that is not in memory when the call starts. Such a string is read when the call
returns, and marked with (read at exit). A condition of --where is false for values that could not be read at the start.
CPU:1 [LOST 12 EVENTS] shows that events of a CPU were lost.

The calls of each task are followed separately. The duration of a call includes the overhead of tracing its nested
calls. function_graph measures durations itself. With BPF and kprobe events, the duration is the time between the
records of start and end. With BPF, the duration excludes the time for recording the start.

Only the named functions and the memory events of the same tasks are traced. Recording needs root, and a kernel that can
trace functions with BPF, ftrace or kprobe events. The back end and any losses are reported at the end. If the recording
ends before COMMAND (-d, Ctrl+C), COMMAND receives SIGTERM.

Exit status: the status of COMMAND, or 128 + N if signal N ended COMMAND. Otherwise:
  0    good
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file, or to record calls, or not supported here
  130  interrupted by Ctrl+C; the result covers the part that was read, and states this)";

// The calls to show, and the style of the result.
struct Shown {
  CallGraphRequest request;
  GraphOptions view;
};

// Returns the options that select calls and were given, as text.
std::string filters_of(const GraphArguments& options, const CallGraphRequest& request) {
  std::vector<std::string> given;
  for (const std::string& glob : request.functions) given.push_back("-F " + printable(glob));
  if (!request.pids.empty()) given.push_back(fmt::format("-p {}", fmt::join(options.processes, ",")));
  if (request.depth) given.push_back(fmt::format("--depth {}", *request.depth));
  if (request.least_ns > 0) given.push_back("--duration-above " + printable(options.duration));
  for (const std::string& condition : options.where) given.push_back(fmt::format("--where '{}'", printable(condition)));
  if (request.errors_only) given.emplace_back("--errors-only");
  return fmt::format("{}", fmt::join(given, ", "));
}

Shown shown_of(const GraphArguments& options, bool is_recorded) {
  Shown shown;
  CallGraphRequest& request = shown.request;
  request.functions = split_commas(options.functions);
  if (!is_recorded && !options.processes.empty())
    request.pids = parse_pid_list(fmt::format("{}", fmt::join(options.processes, ",")));
  request.depth = options.depth;
  if (!options.duration.empty()) request.least_ns = parse_duration(options.duration);
  request.limit = options.limit;
  for (const std::string& condition : options.where) request.where.push_back(parse_call_condition(condition));
  request.errors_only = options.errors_only;
  // A condition on arguments implies that arguments are shown.
  request.arguments = options.arguments || !options.recording.shown.empty() ||
                      !std::ranges::all_of(request.where, &CallCondition::of_result);
  GraphOptions& view = shown.view;
  view.sort = &column_named(pointers_to(graph_function_columns()), options.sort);
  view.top = options.top;
  view.arguments = request.arguments;
  view.return_values =
      options.return_values || options.errors_only || std::ranges::any_of(request.where, &CallCondition::of_result);
  view.filters = filters_of(options, request);
  view.sums_beyond = request.depth || request.least_ns > 0 || request.errors_only ||
                     std::ranges::any_of(request.where, &CallCondition::of_result);
  return shown;
}

// Prints notes on stderr about globs that match no function.
void say_unmatched(const std::vector<std::string>& functions, const std::vector<GraphFunction>& traced) {
  std::vector<std::string> names;
  names.reserve(traced.size());
  for (const GraphFunction& function : traced) names.push_back(function.name.substr(0, function.name.find(" [")));
  for (const std::string& glob : split_commas(functions)) {
    if (names.empty() || std::ranges::any_of(names, [&](const std::string& name) { return glob_match(glob, name); }))
      continue;
    const std::string near = nearest_name(glob, names);
    say("note: no traced function matches \"{}\"{}\n", printable(glob),
        near.empty() ? "" : fmt::format(": did you mean \"{}\"?", printable(near)));
  }
}

CallGraphResult graph_of(const GraphArguments& options, const TraceOptions& trace_options, const std::string& btf,
                         CallGraphRequest wanted, bool is_recorded) {
  ReportRequest request;  // Selects the events of all tasks, because a task may free memory of another task.
  AnalyseOptions analyse;
  analyse.trace = trace_options;
  analyse.symbols = options.symbols;
  analyse.trace.call_records = wanted.arguments || !wanted.where.empty();
  OpenedTrace trace(analyse, {&request, 1});
  const CallTypeSource types(trace.info(), btf);
  if (!is_recorded) say_whose_types(options.btf, trace.info(), types);
  wanted.signatures = types.signatures();
  CallGraph graph(trace.info(), trace.names(), std::move(wanted));
  EventStream events(trace.info(), trace.names(), request, graph);
  trace.stream(events);
  CallGraphResult result = take_calls(graph, trace, types);
  say_unmatched(options.functions, result.functions);
  return result;
}

// Checks before a recording that the file can be written. Does not open special files: if the file is a pipe, its
// reader would see the end of the data.
void try_to_write(const std::string& path) {
  std::error_code code;
  if (std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code)) return;
  const NewFile can_be_written(path);
}

int graph(const Command& command, const GraphArguments& options) {
  const bool is_recorded = name_functions(options.words, asks_for_recording(options.recording));
  // this check of the options comes first, so that errors appear before the recording
  const Shown shown = shown_of(options, is_recorded);
  if (!is_recorded && options.words.empty() && default_trace() == "trace.kmt" && ::access("trace.kmt", F_OK) != 0)
    throw Error("Nothing to show, because neither a function nor a trace is given, and there is no trace.kmt here")
        .hint(
            "kmemtrace graph FUNCTION… -- COMMAND records calls and shows them, kmemtrace graph FILE shows a trace; "
            "see --help");
  TraceOptions trace = options.trace;
  trace.files = options.words;
  std::optional<CallTrace> recorded;
  if (is_recorded) {
    // A kernel without types of its own needs those in the file for BPF programs, too.
    if (!options.btf.empty() &&
        (!check_running_types(options.btf, kernel_build_id()) || ::access("/sys/kernel/btf/vmlinux", R_OK) != 0))
      use_types(options.btf);
    if (!options.html.empty()) try_to_write(options.html);
    CallRecordOptions recording = options.recording;
    recording.functions = split_commas(options.words);
    recording.pids = options.processes;
    recording.conditions = shown.request.where;
    recording.shows_arguments = shown.request.arguments;
    recording.needs_results =
        shown.request.errors_only || std::ranges::any_of(shown.request.where, &CallCondition::of_result);
    recording.shows_results = shown.view.return_values;
    for (const CallCondition& condition : shown.request.where) {
      const bool leads_on = condition.name.find_first_of(".>[") != std::string::npos;
      if (leads_on && std::ranges::find(recording.shown, condition.name) == recording.shown.end())
        recording.shown.push_back(condition.name);
    }
    recording.progress = trace.progress;
    trace.files = {recorded.emplace(recording).path()};
  } else {
    confine_reading(command, {options.html});
  }
  // A new recording may already contain the types, so --btf is not needed for reading.
  const std::string btf = is_recorded && recorded->has_types() ? "" : options.btf;
  if (!options.html.empty()) {
    AnalyseOptions analyse;
    analyse.trace = trace;
    analyse.symbols = options.symbols;
    analyse.btf = btf;
    analyse.btf_is_checked = is_recorded;
    if (!write_html(options.html, {trace.files}, analyse, {}, {}, &shown.request)) return kInterruptedExitCode;
    return recorded ? recorded->exit_status() : static_cast<int>(ExitCode::good);
  }
  CallGraphResult result = graph_of(options, trace, btf, shown.request, is_recorded);
  if (recorded && !recorded->is_kept()) result.trace.path = "(not kept; use -o to keep it)";
  print_result(options.result.json ? json_graph(result, shown.view)
                                   : text_graph(result, shown.view, stdout_style(options.result.style)));
  if (!result.trace.complete) return kInterruptedExitCode;
  return recorded ? recorded->exit_status() : static_cast<int>(ExitCode::good);
}

void add_call_filter_options(Command& command, GraphArguments& options) {
  command.option("-F,--function", &options.functions, "GLOB",
                 "Show calls of functions that match GLOB, and all calls inside them (default: all calls)\nSeparate "
                 "several with commas, or repeat the option.",
                 {.repeats = true});
  command.option("-p,--pid", &options.processes, "LIST",
                 "Show calls of the tasks with these IDs (812,813), and of interrupts during these tasks\n"
                 "When recording: record only these processes, all their threads and their future child processes.",
                 {.repeats = true});
  command.option("--depth", &options.depth, "N", "Show N levels of calls", {.range = OptionRange{1, 1000}});
  command.option("--duration-above", &options.duration, "TIME",
                 "Show calls that took at least TIME (50us, 2ms)\nIf the end of a call is not in the trace, the call "
                 "is assumed to last until the last event of its task.");
  command.option("--where", &options.where, "CONDITION",
                 "Show calls whose argument or result (ret) satisfies CONDITION; for an argument, also show all calls "
                 "inside them: "
                 "'flags&WRITE', 'name==\"etc\"', 'ret==-ENOENT'\nThe operators == != < <= > >= compare the whole "
                 "value, and & tests that bits are set. The right side is a number, \"text\", true, false, NULL, an "
                 "error, or names of flags or enumerators as in the output. If several conditions are given, all must "
                 "be true. Use --errors-only for any error.",
                 {.repeats = true});
  command.flag("--errors-only", &options.errors_only, "Show calls that returned an error; implies --ret");
  command.flag("--args", &options.arguments,
               "Show arguments of calls by name and type, if the trace has them\nftrace records arguments since Linux "
               "6.15, if its option funcgraph-args exists and is set.");
  command.flag(
      "--ret", &options.return_values,
      "Show results of calls, if the trace has them\nErrors are shown by number and name. Without types, all other "
      "results are in hex. The result of a function that returns nothing is then a meaningless register value.");
  command.option(
      "--btf", &options.btf, "FILE",
      "Read types from FILE, a copy of /sys/kernel/btf/vmlinux, or a vmlinux with BTF\nThis is for traces without "
      "types. FILE must be from exactly the traced kernel. For a recording, a file from another kernel is refused.");
}

}  // namespace

Command graph_command() {
  const auto options = std::make_shared<GraphArguments>();
  Command command{"graph", "Record or show calls of kernel functions, with the memory allocated inside each call.",
                  kGraphFooter, [options](const Command& self) { return graph(self, *options); }};
  command.argument(
      "FUNCTION|FILE", &options->words,
      "The functions to record, or the trace to show (default: trace.kmt, else trace.dat)\nA function is NAME, NAME "
      "[MODULE] or MODULE:NAME, with globs; separate several with commas. An existing file, or a word with the "
      "extension of a trace, is the trace to show. With COMMAND or an option for recording, all words are functions.");
  command.words_after_dashes = &options->recording.command;
  command.argument("COMMAND", {}, "Run COMMAND, and record COMMAND and its child processes until COMMAND ends");
  add_call_filter_options(command, *options);
  command.option("--sort", &options->sort, "COLUMN",
                 "Sort functions by COLUMN, largest first (default: total-time)\nColumns:" +
                     list_of(pointers_to(graph_function_columns())));
  command.option("--limit", &options->limit, "N",
                 fmt::format("Show the first N calls (default: {}); 0 means all", options->limit), {.range = kCounts});
  command.option("--top", &options->top, "N",
                 fmt::format("Show N functions in the table (default: {}); 0 means all", options->top),
                 {.range = kCounts});
  add_call_record_options(command, options->recording);
  command.option("--html", &options->html, "OUT.html",
                 "Write an HTML page to OUT.html that shows the calls first\nThe page has the same parts as that of "
                 "`kmemtrace report --html`, with the selected calls and all allocations.",
                 {.excludes = {"--json"}});
  add_kallsyms_option(command, options->symbols);
  add_trace_options(command, options->trace);
  add_result_options(command, options->result, "kmemtrace.graph/1", "plain digits, full names and all columns");
  return command;
}

}  // namespace kmt
