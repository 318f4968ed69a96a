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
#include "symbols/call_type_source.hpp"
#include "symbols/running_types.hpp"
#include "views/json/graph.hpp"
#include "views/text/graph.hpp"

namespace kmt {

namespace {

struct GraphArguments {
  std::vector<std::string> words;      // files, or functions to record
  std::vector<std::string> processes;  // selects the calls to show or record
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
  kmemtrace graph vfs_read,vfs_write --args --ret -- cat /etc/hostname      record what cat calls, and show it
  kmemtrace graph handle_mm_fault -p 812 -d 5s --duration-above 1ms         slow page faults of a process
  kmemtrace graph 'ext4:ext4_file_*' -a --errors-only                       the whole machine's, until Ctrl+C
  kmemtrace graph vfs_read --show 'file->f_path.dentry->d_name.name' -- ls  of which file
  kmemtrace graph vfs_read -o reads.kmt -- ls                               keep it: kmemtrace graph reads.kmt
  trace-cmd record -p function_graph -g do_sys_openat2 -e kmem ls     record: what opening a file calls and allocates
  kmemtrace graph trace.dat                                           show it
  kmemtrace graph trace.dat -F 'kmem_cache_alloc*' --duration-above 50us
  kmemtrace graph trace.dat -F handle_mm_fault --depth 1              one line a call
  kmemtrace graph trace.dat -p 812 --limit 0 | less
  kmemtrace graph trace.dat -F vfs_read --where 'count>=65536' --where 'ret<0' --args
  kmemtrace graph trace.dat --sort slab-live --top 10                 which functions leave most memory allocated
  kmemtrace graph reads.kmt --html reads.html                         a page for a browser
  kmemtrace flamegraph reads.kmt --call-paths -o reads.svg            bytes allocated by path of calls
  kmemtrace export reads.kmt --to perfetto -o reads.pftrace           calls on a time line, for ui.perfetto.dev
  kmemtrace graph trace.dat --json | jq '.functions[] | select(.inside.pages.failed > 0)'

Lines are like those of ftrace, in the order of time: CPU, duration of the call, and function. A rule marks that a CPU
switched to another task. f(); called no traced function; f() { ... } called some that are not shown. After a call follows the memory that its task allocated inside it, including calls from it, and the part still live at its return:

  1)   8.806 us    |  handle_mm_fault() { ... } /* slab 192 B in 2, none live; pages 4.0 KiB in 1, all live */

Slabs are made of pages, so do not add their bytes. Between ==========> and <========== an interrupt ran on top: its
allocations are not part of the call, its time is. "events were lost" while the call ran: more may have been allocated
in it. "calls may have been missed": likewise, but the task is unknown.

With --args and --ret the trace's types (or --btf) decide how numbers are shown: integers in decimal, possible
addresses in hex, file modes in octal, flags and errors by name, structures passed in registers by their members,
unknown values as "?". An argument in no register is shown as (on the stack, not recorded). An error is a result from
-4095 to -1 of a signed integer, a pointer or an unsigned long, or the flags of a failed page fault. A string ends at
its NUL, at the count that follows it, or where it was cut ("abc"…):

  1)   1.204 us    |  vfs_read(file=0xffff888103a5c000, buf=0x7f12a4c01000, count=4096, pos=0x0) = -11 (EAGAIN);

A program's string may be on a page that is not in memory when the call starts. It is then read when the call returns,
and marked with (read at exit). A condition of --where does not hold for values that could not be read at the start.
CPU:1 [LOST 12 EVENTS] marks lost events of a CPU.

Calls are followed task by task. Durations include the tracing of the calls inside. function_graph measures them; with
BPF and kprobe events they are the time between the records of start and end. With BPF the recording of the start is
not included.

Only the named functions and memory events of the same tasks are traced. Recording needs root, and a kernel that
traces functions by BPF, ftrace or kprobe events. The back end and any losses are reported at the end. If the
recording ends before COMMAND does (-d, Ctrl+C), COMMAND gets SIGTERM.

Exit status: that of COMMAND, or 128 + N if signal N ended it. Else:
  0    good
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file, or to record calls, or not supported here
  130  interrupted by Ctrl+C; the result covers the part that was read, and says so)";

// The selection and the style of the result.
struct Shown {
  CallGraphRequest request;
  GraphOptions view;
};

// The options that choose calls, as given.
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
  // Filtering by arguments implies showing them.
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

// Notes globs that match nothing, on stderr.
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
  ReportRequest request;  // all events: tasks free other tasks' memory
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

// For a check before the recording. Leaves other files than regular ones alone: the reader of a pipe would see its end.
void try_to_write(const std::string& path) {
  std::error_code code;
  if (std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code)) return;
  const NewFile can_be_written(path);
}

int graph(const Command& command, const GraphArguments& options) {
  const bool is_recorded = name_functions(options.words, asks_for_recording(options.recording));
  const Shown shown = shown_of(options, is_recorded);  // its errors come before the recording
  if (!is_recorded && options.words.empty() && default_trace() == "trace.kmt" && ::access("trace.kmt", F_OK) != 0)
    throw Error("Nothing to show: neither a function nor a trace is named, and there is no trace.kmt here")
        .hint(
            "kmemtrace graph FUNCTION… -- COMMAND records calls and shows them, kmemtrace graph FILE shows a trace; "
            "see --help");
  TraceOptions trace = options.trace;
  trace.files = options.words;
  std::optional<CallTrace> recorded;
  if (is_recorded) {
    if (!options.btf.empty() && !check_running_types(options.btf, kernel_build_id()))
      say("note: it is unknown whether the types in {} are this kernel's\n", printable(options.btf));
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
  // A fresh recording has its own types and numbered values.
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
  if (recorded && !recorded->is_kept()) result.trace.path = "(not kept: -o keeps it)";
  print_result(options.result.json ? json_graph(result, shown.view)
                                   : text_graph(result, shown.view, stdout_style(options.result.style)));
  if (!result.trace.complete) return kInterruptedExitCode;
  return recorded ? recorded->exit_status() : static_cast<int>(ExitCode::good);
}

}  // namespace

Command graph_command() {
  const auto options = std::make_shared<GraphArguments>();
  Command command{"graph",
                  "Record calls of kernel functions, or show those in a trace, with the memory allocated inside each.",
                  kGraphFooter, [options](const Command& self) { return graph(self, *options); }};
  command.argument("FUNCTION|FILE", &options->words,
                   "The functions to record, or the trace to show (default: trace.kmt, else trace.dat)\nA function is "
                   "NAME, NAME [MODULE] or MODULE:NAME, with globs; several with commas. A word that names a file, or "
                   "ends like a trace, is shown. With COMMAND or an option for recording, words are always functions.");
  command.words_after_dashes = &options->recording.command;
  command.argument("COMMAND", {}, "Run COMMAND; record it and its child processes until it ends");
  command.option("-F,--function", &options->functions, "GLOB",
                 "Show calls of functions that match GLOB, and all calls inside them (default: all calls)\nSeparate "
                 "several with commas, or repeat the option.",
                 {.repeats = true});
  command.option("-p,--pid", &options->processes, "LIST",
                 "Show calls of the tasks with these ids (812,813), and of interrupts on top of them\n"
                 "When recording: record only these processes, all their threads and their future child processes.",
                 {.repeats = true});
  command.option("--depth", &options->depth, "N", "Show N levels of calls", {.range = OptionRange{1, 1000}});
  command.option("--duration-above", &options->duration, "TIME",
                 "Show calls that took at least TIME (50us, 2ms)\nIf the end of a call is not in the trace, the time "
                 "until its task was last seen counts.");
  command.option(
      "--where", &options->where, "CONDITION",
      "Show calls whose argument, or result (ret), meets CONDITION; for arguments also all calls inside them: "
      "'flags&WRITE', 'name==\"etc\"', 'ret==-ENOENT'\nOne of == != < <= > >= (the whole value) and & (these bits are "
      "set), and a number, \"text\", true, false, NULL, an error, or names of flags and of an enumeration's values, as "
      "they are shown. If several are given, all must hold. Use --errors-only for any error.",
      {.repeats = true});
  command.flag("--errors-only", &options->errors_only, "Show calls that returned an error; implies --ret");
  command.flag("--args", &options->arguments,
               "Show arguments of calls by name and type, if the trace has them\nftrace records them from Linux 6.15 "
               "on if its option funcgraph-args exists and is set.");
  command.flag("--ret", &options->return_values,
               "Show results of calls, if the trace has them\nErrors are shown by number and name. Without types "
               "everything else is in hex, and functions that return nothing show whatever was in the register.");
  command.option(
      "--btf", &options->btf, "FILE",
      "Take types from FILE, a copy of /sys/kernel/btf/vmlinux, or a vmlinux with BTF\nFor traces without types. It "
      "must be of exactly the kernel that was traced; when recording, another kernel's file is refused.");
  command.option("--sort", &options->sort, "COLUMN",
                 "Order functions by COLUMN, largest first (default: total-time)\nColumns:" +
                     list_of(pointers_to(graph_function_columns())));
  command.option("--limit", &options->limit, "N",
                 fmt::format("Show N calls, the first ones (default: {}); 0 means all", options->limit),
                 {.range = kCounts});
  command.option("--top", &options->top, "N",
                 fmt::format("Show N functions in the table (default: {}); 0 means all", options->top),
                 {.range = kCounts});
  add_call_record_options(command, options->recording);
  command.option("--html", &options->html, "OUT.html",
                 "Write an HTML page to OUT.html, with the calls in front\nThe page is that of `kmemtrace report "
                 "--html`, with the selected calls and all allocations.",
                 {.excludes = {"--json"}});
  add_kallsyms_option(command, options->symbols);
  add_trace_options(command, options->trace);
  add_result_options(command, options->result, "kmemtrace.graph/1", "plain digits, full names and every column");
  return command;
}

}  // namespace kmt
