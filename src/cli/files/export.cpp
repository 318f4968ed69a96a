// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace export
#include <array>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/calls/graph.hpp"
#include "analysis/matching/largest_allocations.hpp"
#include "analysis/report/event_stream.hpp"
#include "analysis/report/timeline.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/files/export_clickhouse.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/call_result.hpp"
#include "cli/input/damage_note.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/input/reading.hpp"
#include "cli/input/stack_metric_option.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/result_file.hpp"
#include "cli/support/say.hpp"
#include "reading/snapshots.hpp"
#include "symbols/call_type_source.hpp"
#include "views/common/export_stacks.hpp"
#include "views/export/lines.hpp"
#include "views/export/sqlite.hpp"
#include "views/export/tracks.hpp"

namespace kmt {

namespace {

struct ExportArguments {
  AnalyseOptions analyse;
  FilterOptions filter;
  std::string format;
  std::string output;
  std::string metric = "allocated";
  std::string by = "cache";
  std::size_t top = 10;
  std::size_t events = 100'000;
  std::size_t calls = 100'000;
  ClickHouseOptions clickhouse;
};

constexpr const char* kExportFooter = R"(Examples:
  kmemtrace export big.kmt --to pprof -o big.pb.gz && go tool pprof -http : big.pb.gz
  kmemtrace export big.kmt --to pprof --comm 'nginx*' -o nginx.pb.gz
  kmemtrace export big.kmt --to perfetto -o big.pftrace     open it with the user interface of Perfetto
  kmemtrace export big.kmt --to speedscope -o big.json      open it with speedscope
  kmemtrace export big.kmt --to collapsed --metric live | flamegraph.pl > live.svg
  kmemtrace export big.kmt --to csv --time +1,+2 | head
  kmemtrace export big.kmt --to jsonl | jq -r 'select(.outcome == "failed") | .symbol'
  kmemtrace export big.kmt --to sqlite -o big.db && sqlite3 big.db 'SELECT * FROM leaks LIMIT 10'
  kmemtrace export big.kmt --to clickhouse http://db1:8123 && kmemtrace fleet leaks --server http://db1:8123

docs/formats/export.md describes the columns, tables and views.

Stacks do not include frames of the allocators and their wrappers, and functions have no offsets. The outermost frame is
[slab], [pages], [percpu] or [vmalloc]. Do not add the bytes of [slab] and [pages], because slabs consist of pages.

The csv and jsonl formats read the trace twice if names appear only later in it. Most kernels name the cache of an
object only when it is freed. Events of tasks and of the scheduler show the earlier names of a task.

{}

Exit status:
  0    exported
  2    wrong usage, or a file cannot be read or written
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the export covers the part that was read. With clickhouse, reports
       exclude the trace until the same command completes it)";

// A function that writes the trace in one format. Returns true if the whole trace was read.
using Export = bool (*)(const ExportArguments&, ResultFile&);

ReportRequest request_of(const ExportArguments& options) {
  ReportRequest request;
  request.filter = filter_of(options.filter);
  return request;
}

template <typename Make>
bool export_stacks(const ExportArguments& options, ResultFile& file, StackLabels labels, Make&& make) {
  ReportRequest request = request_of(options);
  request.by = stack_profile_keys(labels);
  const ReportResult report = analyse(options.analyse, request);
  say_damage(report.findings);
  const StackProfile profile = stack_profile_of(report);
  file.write(make(profile));
  return profile.trace.complete;
}

bool export_pprof(const ExportArguments& options, ResultFile& file) {
  return export_stacks(options, file, StackLabels::cache_and_task, pprof_export);
}
bool export_speedscope(const ExportArguments& options, ResultFile& file) {
  return export_stacks(options, file, StackLabels::none, speedscope_export);
}
bool export_firefox(const ExportArguments& options, ResultFile& file) {
  return export_stacks(options, file, StackLabels::none, firefox_export);
}
bool export_collapsed(const ExportArguments& options, ResultFile& file) {
  const StackMetric metric = metric_named(options.metric);
  return export_stacks(options, file, StackLabels::none,
                       [metric](const StackProfile& profile) { return collapsed_export(profile, metric); });
}

// Passes the events to the sink that `make_sink` returns, until the trace ends or `wanted` becomes false.
template <typename MakeSink>
bool stream(OpenedTrace& trace, const ReportRequest& request, const bool& wanted, MakeSink&& make_sink) {
  auto&& sink = make_sink(trace.info(), trace.symbols());
  EventStream events(trace.info(), trace.symbols(), request, *sink);
  return trace.stream(events, wanted);
}

void say_what_was_read(const OpenedTrace& trace) {
  say_damage(trace.info().findings);
  trace.say_lack_of_calls();
}

// Returns the request for exports of single events. The request groups by cache and task, because only then are the
// names of caches and tasks read.
ReportRequest stream_request(const ExportArguments& options) {
  ReportRequest request = request_of(options);
  request.by = {GroupKey::cache, GroupKey::comm};
  return request;
}

template <typename MakeSink>
bool export_lines(const ExportArguments& options, ResultFile& file, MakeSink&& make_sink) {
  ReportRequest request = stream_request(options);
  OpenedTrace trace(options.analyse, {&request, 1});
  bool wanted = true;
  const bool complete = stream(trace, request, wanted, [&](const TraceInfo& info, const SymbolNames& symbols) {
    return make_sink(info, symbols, [&](std::string_view text) { wanted = wanted && file.write(text); });
  });
  say_what_was_read(trace);
  return complete;
}

bool export_csv(const ExportArguments& options, ResultFile& file) { return export_lines(options, file, csv_export); }
bool export_jsonl(const ExportArguments& options, ResultFile& file) {
  return export_lines(options, file, json_lines_export);
}

bool export_sqlite(const ExportArguments& options, ResultFile& file) {
  bool complete = true;
  file.write_by_name([&](const std::string& path) {
    ReportRequest request = stream_request(options);
    OpenedTrace trace(options.analyse, {&request, 1});
    complete = stream(trace, request, true, [&](const TraceInfo& info, const SymbolNames& symbols) {
      return sqlite_export(info, symbols, path);
    });
    say_what_was_read(trace);
  });
  return complete;
}

// Returns a text with those options that affect which rows of a trace are loaded into the database.
std::string selection_of(const ExportArguments& options) {
  const FilterOptions& filter = options.filter;
  const TraceOptions& trace = options.analyse.trace;
  const SymbolOptions& symbols = options.analyse.symbols;
  const WrapperOptions& wrappers = options.analyse.wrappers;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", filter.time, filter.cpus, filter.pids, filter.size,
                     filter.comms, filter.contexts, filter.call_sites, filter.caches, trace.buffer.value_or("\n"),
                     trace.abi, symbols.kallsyms, symbols.vmlinux, options.analyse.call_paths, wrappers.files,
                     wrappers.none);
}

bool export_clickhouse(const ExportArguments& options, ResultFile&) {
  if (const auto& files = options.analyse.trace.files; files.size() == 1 && is_snapshot_file(files.front())) {
    if (selection_of(options) != selection_of({}))
      throw Error("Options that select events or symbols do not apply to snapshots")
          .hint("Leave these options out. All snapshots of the file are loaded");
    export_account(options.clickhouse, files.front());
    return true;
  }
  ReportRequest request = stream_request(options);
  OpenedTrace trace(options.analyse, {&request, 1});
  ClickHouseExport loading(options.clickhouse, options.analyse.trace.files, selection_of(options), trace.info());
  if (loading.is_there_already()) return true;
  const bool complete = stream(trace, request, true, [&](const TraceInfo& info, const SymbolNames& symbols) {
    return loading.sink(info, symbols, trace.callers());
  });
  say_what_was_read(trace);
  loading.say_what_was_loaded(complete);
  return complete;
}

AllocationSlices largest(OpenedTrace& trace, const ExportArguments& options, const ReportRequest& request) {
  LargestAllocations largest(trace.info(), options.events);
  stream(trace, request, true, [&](const TraceInfo&, const SymbolNames&) { return &largest; });
  say_damage(trace.info().findings);
  AllocationSlices slices = largest.take();
  if (slices.slices.size() < slices.allocations)
    say("note: showing the {1} largest of {0} allocations; --events N shows more\n", humane_count(slices.allocations),
        humane_count(slices.slices.size()));
  if (slices.without_room > 0)
    say("note: {} allocations are shown as instants, because a task has at most {} slices at a time. Slices show the "
        "allocations with the most bytes and the longest lifetime\n",
        humane_count(slices.without_room), AllocationSlices::kMostLanes);
  return slices;
}

// Returns the calls that the selected tasks made in the selected time, with all allocations inside these calls.
CallGraphResult calls_of(const ExportArguments& options) {
  const ReportFilter filter = filter_of(options.filter);
  ReportRequest request;
  request.filter.from = filter.from;
  request.filter.to = filter.to;
  CallGraphRequest wanted;
  wanted.pids = filter.pids;
  wanted.limit = options.calls;
  wanted.arguments = true;
  AnalyseOptions analyse = options.analyse;
  analyse.trace.call_records = true;
  OpenedTrace trace(analyse, {&request, 1});
  const CallTypeSource types(trace.info(), options.analyse.btf);
  say_whose_types(options.analyse.btf, trace.info(), types);
  wanted.signatures = types.signatures();
  CallGraph graph(trace.info(), trace.symbols(), wanted);
  stream(trace, request, true, [&](const TraceInfo&, const SymbolNames&) { return &graph; });
  CallGraphResult calls = take_calls(graph, trace, types);
  say_damage(types.findings());
  if (calls.calls.size() < calls.calls_selected)
    say("note: showing the first {1} of {0} calls; --calls N shows more\n", humane_count(calls.calls_selected),
        humane_count(calls.calls.size()));
  return calls;
}

template <typename Make>
bool export_tracks(const ExportArguments& options, ResultFile& file, Make&& make) {
  ReportRequest request = request_of(options);
  request.by = parse_keys_of_live(options.by);
  request.history = true;
  TimelineRequest timeline;
  timeline.top = options.top;
  timeline.balances = false;
  const TimelineResult result = timeline_of(analyse(options.analyse, request), timeline);
  if (!result.report.trace.complete) {
    OpenedTrace trace(options.analyse, {&request, 1});
    file.write(make({result, AllocationSlices{}, CallGraphResult{}}, trace.symbols()));
    return false;
  }
  ReportRequest of_events = stream_request(options);
  OpenedTrace trace(options.analyse, {&of_events, 1});
  const AllocationSlices slices = largest(trace, options, of_events);
  const CallGraphResult calls =
      slices.complete && options.calls > 0 && trace.has_calls() ? calls_of(options) : CallGraphResult{};
  file.write(make({result, slices, calls}, trace.symbols()));
  return slices.complete && calls.trace.complete;
}

bool export_perfetto(const ExportArguments& options, ResultFile& file) {
  return export_tracks(options, file, perfetto_export);
}
bool export_chrome(const ExportArguments& options, ResultFile& file) {
  return export_tracks(options, file, chrome_export);
}

// The kinds of options that only some formats have.
enum class OwnOptions { none, of_stacks, of_tracks, of_clickhouse };
struct OwnOption {
  const char* name;
  OwnOptions of;
};
constexpr std::array kOwnOptions = {
    OwnOption{"--metric", OwnOptions::of_stacks},   OwnOption{"--by", OwnOptions::of_tracks},
    OwnOption{"--top", OwnOptions::of_tracks},      OwnOption{"--events", OwnOptions::of_tracks},
    OwnOption{"--btf", OwnOptions::of_tracks},      OwnOption{"--level", OwnOptions::of_clickhouse},
    OwnOption{"--host", OwnOptions::of_clickhouse}, OwnOption{"--recorded-at", OwnOptions::of_clickhouse},
    OwnOption{"--retry", OwnOptions::of_clickhouse}};

struct Format {
  std::string_view name;
  std::string_view meaning;
  Export run;
  OwnOptions options = OwnOptions::none;
};
constexpr std::array kFormats = {
    Format{"pprof", "profile for `go tool pprof`: allocated, live and wasted bytes of each stack", export_pprof},
    Format{"speedscope", "the same profile for speedscope", export_speedscope},
    Format{"firefox", "the same profile for Firefox Profiler", export_firefox},
    Format{"collapsed", "one line per stack with the value of --metric, for flamegraph.pl and others", export_collapsed,
           OwnOptions::of_stacks},
    Format{"perfetto", "Perfetto trace: memory over time, the largest allocations, and traced calls", export_perfetto,
           OwnOptions::of_tracks},
    Format{"chrome", "the same data as JSON, for chrome://tracing and others", export_chrome, OwnOptions::of_tracks},
    Format{"csv", "every event, one per line", export_csv},
    Format{"jsonl", "every event, one JSON object per line", export_jsonl},
    Format{"sqlite", "database of every event and every allocation, with a view for each report", export_sqlite},
    Format{"clickhouse",
           "rows in the ClickHouse server at URL, with the traces of other machines (see `kmemtrace fleet`)",
           export_clickhouse, OwnOptions::of_clickhouse}};

void check_options(const Command& command, const Format& format) {
  for (const OwnOption& option : kOwnOptions) {
    if (!command.has(option.name) || option.of == format.options) continue;
    std::string others;
    for (const Format& other : kFormats)
      if (option.of == other.options) others += fmt::format("{}{}", others.empty() ? "" : " and ", other.name);
    throw Error(fmt::format("{} has no effect on {}", option.name, format.name))
        .hint(fmt::format("It is only for {}", others));
  }
}

const Format& format_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw unknown_name("Unknown format", name, names);
}

std::string format_help() {
  std::string text = "Write this format:";
  for (const Format& format : kFormats) text += fmt::format("\n  {:<11} {}", format.name, format.meaning);
  return text;
}

int run(const Command& command, ExportArguments& options) {
  const Format& format = format_named(options.format);
  check_options(command, format);
  if (format.options == OwnOptions::of_clickhouse) {
    if (!options.output.empty())
      throw Error("-o cannot be used with clickhouse, because it writes no file")
          .hint("Remove -o and give the URL of a server");
    options.clickhouse.url = take_url(options.analyse.trace.files);
  }
  const std::vector<std::string>& files = options.analyse.trace.files;
  ResultFile file(options.output, files.empty() ? std::vector{default_trace()} : files);
  const bool complete = format.run(options, file);
  file.finish();
  if (complete) return 0;
  if (format.options != OwnOptions::of_clickhouse)
    // the upload to ClickHouse has already printed that reports hide a partly loaded trace
    say_interrupted("export");
  return kInterruptedExitCode;
}

}  // namespace

Command export_command() {
  const auto options = std::make_shared<ExportArguments>();
  Command command{"export", "Write a trace for other tools: viewers, databases, scripts.",
                  fmt::format(fmt::runtime(kExportFooter), kWhichEventsCount),
                  [options](const Command& given) { return run(given, *options); }};
  add_file_option(command, options->analyse.trace);
  command.option("--to", &options->format, "FORMAT", format_help(), {.required = true});
  add_output_option(command, options->output, " The sqlite format needs a FILE.");
  add_metric_option(command, options->metric, "Count METRIC in collapsed stacks (default: allocated)");
  command.option("--by", &options->by, "KEYS",
                 "Group counters by KEYS (default: cache)\n(perfetto and chrome only) KEYS are the same as in "
                 "`kmemtrace timeline --by`.");
  command.option("--top", &options->top, "N",
                 "Show counters of the N groups of each allocator with the highest peaks (default: 10)\n(perfetto and "
                 "chrome only)",
                 {.range = kCounts});
  command.option("--events", &options->events, "N",
                 "Show the N largest allocations as slices (default: 100,000)\n(perfetto and chrome only)",
                 {.range = kCounts});
  command.option("--calls", &options->calls, "N",
                 "Show as slices the first N calls that function_graph recorded (default: 100,000)\n(perfetto and "
                 "chrome only) 0 means none. --time and --pid select calls.",
                 {.range = kCounts});
  command.option("--btf", &options->analyse.btf, "FILE",
                 "Read the types of calls from FILE, as `kmemtrace graph --btf` does\n(perfetto and chrome only)");
  add_clickhouse_options(command, options->clickhouse);
  add_filter_options(command, options->filter);
  add_analyse_options(command, options->analyse);
  return command;
}

}  // namespace kmt
