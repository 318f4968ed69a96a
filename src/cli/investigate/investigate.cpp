// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace investigate
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "analysis/growth/census_change.hpp"
#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "analysis/growth/traces.hpp"
#include "analysis/growth/waits.hpp"
#include "analysis/snapshot/owners.hpp"
#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/units.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/investigate/caches.hpp"
#include "cli/investigate/copies.hpp"
#include "cli/investigate/evidence.hpp"
#include "cli/investigate/live.hpp"
#include "cli/investigate/place.hpp"
#include "cli/investigate/sampled_caches.hpp"
#include "cli/investigate/samples.hpp"
#include "cli/investigate/states.hpp"
#include "cli/report/html.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/live_kernel.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/say.hpp"
#include "cli/support/types_option.hpp"
#include "reading/snapshots.hpp"
#include "results/series/thresholds.hpp"
#include "snapshot/parse.hpp"
#include "views/common/next_commands.hpp"
#include "views/common/shell_word.hpp"
#include "views/common/unseen_sources.hpp"
#include "views/json/investigation.hpp"
#include "views/text/investigation.hpp"

namespace kmt {

namespace {

constexpr const char* kUsualDuration = "2m";

struct InvestigateArguments {
  // Duration of the investigation; if empty, the default. With --from, the time between the first and the last copy.
  std::string duration;
  std::string output;
  std::string from;
  std::string threshold;
  double cpu = 1;
  bool dry_run = false;
  std::string btf;
  ResultOptions result;
};

constexpr const char* kInvestigateFooter = R"(Examples:
  kmemtrace investigate                     watches for two minutes; the page is index.html in a new folder
  kmemtrace investigate --dry-run           shows the plan, its cost, and what cannot be observed here
  kmemtrace investigate --for 10m -o leak.html
                                            finds a slower leak; keeps only the page
  kmemtrace investigate --from copied/      uses files and a trace that were copied from another machine

An investigation starts with a snapshot of the kernel's memory statistics. It samples slab allocations and kernel pages,
and follows each sample until it is freed. At the same time, it reads meminfo and slabinfo. If these sources show
growth, the investigation makes an exact recording of all allocations in the growing caches and sizes, filtered in the
kernel. The investigation ends with a second snapshot. The report shows which memory grew, how fast, and how certain
this is. The report names the call sites and processes, how much of the growth they explain, and what remains unknown.

An investigation measures its own cost. Sampling stops before it would exceed the budget of --cpu, but not in the first
10 s. A recording starts only if the budget is sufficient. If sampling stops early or there is no recording, the results
are based on the other sources, and the page reports this. The budget is at least 2.4 s of CPU time. With two CPUs, this
is 12 % of the CPU time for 10 s, 4 % for 30 s, 2 % for a minute, and at most 1 % for two minutes or more. `--dry-run`
shows the percentage on this machine.

Growth is confirmed under three conditions. First, the growth is steadier than random fluctuation. Second, samples from
before the recording, or the kernel's own counters, also show the growth. Third, neither of these sources contradicts
the growth. If one condition is not met, the first sentence says "Unsure". Reclaimable memory (dentries, inodes, page
cache) and user memory are not judged. If Shmem rises by 32 MiB or more, a sentence after the verdict gives the numbers.
Page tables are judged only if they are larger than a tenth of the memory of their process.

An investigation also finds memory that leaked earlier. It samples the objects of slab caches that hold much
unreclaimable memory, and names their kinds and modules. It lists health checks that are not ok, and removed cgroups
that still hold memory. These do not change the exit status.

An investigation uses the kernel interfaces that are permitted. Without BPF, there are no samples, and the recording is
chosen from the kernel's counters. Without tracefs, there are only samples. Without both, the report shows which caches
grow, but not which code or process makes them grow.

Exit status:
  0  no confirmed growth; growth may be possible but unsure
  1  confirmed growth, with or without a known call site
  2  wrong usage, or a file cannot be read or written
  3  not permitted to read or write a file
  4  undecided: the time was too short, there were too few states, less than half of the time was
     covered, most events were lost, or neither allocations nor slab caches could be observed
  130  interrupted by Ctrl+C before growth was confirmed)";

double threshold_of(const InvestigateArguments& options) {
  return options.threshold.empty() ? kThresholds.usual_bytes_per_s : parse_byte_rate(options.threshold);
}

std::string way_to_copy(const std::string& path) {
  return fmt::format("copy the file again, completely; `kmemtrace check {}` shows what is left", shell_word(path));
}

// Notes that a part of the file is missing or damaged. Throws Error if no event is left.
void note_damage(const std::string& path, const ReportResult& report, InvestigationResult& result) {
  // Other imperfections may be in a complete file.
  constexpr std::array kDamage = {
      Imperfection::truncated_file, Imperfection::unfinished_file, Imperfection::damaged_section,
      Imperfection::damaged_block,  Imperfection::damaged_record,  Imperfection::damaged_page,
      Imperfection::damaged_stream, Imperfection::missing_section, Imperfection::torn_record,
      Imperfection::cut_off_cpu,    Imperfection::missing_cpu};
  const auto damage =
      std::ranges::find_if(kDamage, [&report](Imperfection kind) { return report.findings.count_of(kind) > 0; });
  if (damage == kDamage.end()) return;
  const std::string_view why = describe(*damage).sentence;
  const std::string how = result.cost ? "" : way_to_copy(path);
  if (report.trace.events == 0) throw Error(fmt::format("No event can be read: {}", why)).at({path, {}, {}}).hint(how);
  result.unseen.push_back({"a part of the recording", fmt::format("{}: {}", path, why), how});
}

void read_trace(const std::string& path, bool by_stack, InvestigationEvidence& evidence, InvestigationResult& result) {
  AnalyseOptions options;
  options.trace.files = {path};
  options.trace.progress = false;
  ReportRequest request;
  request.by = keys_of_growth(by_stack);
  request.history = request.history_of_live = request.until_cut = true;
  std::vector<ReportRequest> requests = {request};
  StallsRequest stalls{.request = {.by = {}}, .longest = 1};
  const ReportResult report = std::move(analyse(options, std::move(requests), nullptr, &stalls).front());
  if (stalls.result) {
    result.waits.recorded = stalls.result->total;
    result.waits.processes = std::move(stalls.result->processes);
  }
  if (!report.trace.complete)
    result.unseen.push_back(
        {"the end of the recording", "the reading was interrupted", "run `kmemtrace leaks` on the recording"});
  result.lost_events = report.trace.lost_events;
  result.trace_events = report.trace.events;
  note_damage(path, report, result);
  if (report.histories->axis.buckets == 0) return;  // nothing happened
  evidence.trace = trace_growth(report);
  if (evidence.states.empty()) evidence.states = report.histories->memory;
  if (result.kernel.empty()) result.kernel = report.trace.kernel;
  if (result.machine.empty()) result.machine = report.trace.arch;
  if (evidence.seconds == 0) evidence.seconds = static_cast<double>(report.trace.recorded_ns) / 1e9;
}

// Reads the trace. If the trace is unreadable, reports the reason and returns false. The investigation then continues
// with the other evidence.
bool could_read_trace(const std::string& path, const std::function<bool()>& by_stack, InvestigationEvidence& evidence,
                      InvestigationResult& result) {
  try {
    read_trace(path, by_stack(), evidence, result);
    return true;
  } catch (const Error& error) {
    result.unseen.push_back({"the content of the recording", fmt::format("{}: {}", path, error.what()),
                             result.cost || !error.hint().empty() ? error.hint() : way_to_copy(path)});
    result.unreadable_trace = true;
    return false;
  }
}

// Adds what the last snapshot shows apart from growth. `objects` is the file with sampled objects, or empty. Returns
// which objects could not be read.
std::optional<UnseenSource> inspect(const SnapshotResult& last, const std::string& objects,
                                    InvestigationResult& result) {
  result.health = last.health;
  const auto dying = std::ranges::find(last.health, HealthTopic::dying_cgroups, &HealthCheck::topic);
  if (dying != last.health.end() && is_unhealthy(*dying)) {
    result.dying_cgroups = last.dying_cgroups;
    result.pods = last.memory.pods;
  }
  auto unread = inspect_large_caches(last, objects, result);
  if (unread) result.unseen.push_back(*unread);
  return unread;
}

int give(const InvestigateArguments& options, InvestigationPlace& place, const std::vector<std::string>& written,
         const std::string& trace, InvestigationResult& result) {
  if (place.keeps_files()) {
    result.folder = place.folder();
    result.files = files_of_investigation(written);
  }
  if (auto cgroups = unknown_cgroups(result)) result.unseen.push_back(std::move(*cgroups));
  result.conclusion = conclude(result);
  result.by_root = ::geteuid() == 0;
  result.next = next_commands(result);
  AnalyseOptions analysing;
  analysing.trace.progress = false;
  const bool is_whole =
      write_html(place.page(), trace.empty() ? std::vector<TraceFiles>() : std::vector<TraceFiles>{{trace}}, analysing,
                 {}, json_investigation(result));
  // The cost includes the CPU time of the analysis and of writing the page.
  if (result.cost) result.cost->cpu_seconds = static_cast<double>(own_cpu_ns()) / 1e9;
  const std::string json = json_investigation(result);
  if (place.keeps_files()) write_new_file(place.folder() + "/summary.json", json);
  place.finish();
  print_result(options.result.json ? json : text_investigation(result, stdout_style(options.result.style)));
  if (result.conclusion.verdict == GrowthVerdict::grows) return static_cast<int>(ExitCode::found);
  // True only if Ctrl+C ended this run. False if it ended an earlier run whose folder --from reads.
  const bool was_cut_short_now = result.cost && !result.complete;
  if (!is_whole || was_cut_short_now) return kInterruptedExitCode;
  return result.conclusion.verdict == GrowthVerdict::no_growth ? static_cast<int>(ExitCode::good) : kCannotTellExitCode;
}

int investigate_live(const InvestigateArguments& options) {
  use_types(options.btf);
  say_types_of_programs();
  LiveInvestigation request;
  const std::string duration = options.duration.empty() ? kUsualDuration : options.duration;
  request.seconds = static_cast<double>(parse_duration(duration)) / 1e9;
  if (request.seconds < kThresholds.shortest_watch)
    throw Error(fmt::format("--for must be at least {:.0f}s to judge growth", kThresholds.shortest_watch))
        .hint("kmemtrace investigate --for 30s");
  request.cpu_share = options.cpu / 100;
  request.threshold_bytes_per_s = threshold_of(options);
  // Handles Ctrl+C from here on, because the first requests to the kernel may take a long time.
  std::optional<InterruptGuard> interrupt;
  if (!options.dry_run) interrupt.emplace(SecondSignal::is_ignored);
  const InvestigationPlan plan = plan_investigation(request);
  if (options.dry_run) {
    print_result(options.result.json ? json_investigation_plan(plan)
                                     : text_investigation_plan(plan, stdout_style(options.result.style)));
    return static_cast<int>(ExitCode::good);
  }
  InvestigationPlace place(options.output, {});
  place.make();
  request.folder = place.folder();
  if (::isatty(STDERR_FILENO) == 1)
    say("Watching for {}; press Ctrl+C to end early and show the results so far\n", duration);
  WatchedKernel watched = watch_kernel(request, plan, *interrupt);
  interrupt.reset();
  InvestigationResult result;
  result.kernel = watched.kernel.release;
  result.machine = watched.kernel.machine;
  result.host = watched.kernel.node_name;
  result.start_unix_ns = watched.start_unix_ns;
  result.seconds = watched.evidence.seconds;
  result.requested_seconds = request.seconds;
  result.watched = true;
  result.complete = !watched.interrupted;
  if (watched.interrupted) result.cut_short = "it was interrupted";
  result.narrowing = watched.evidence.narrowing;
  result.trace_seconds = watched.recorded_seconds;
  result.no_calls = !plan.calls;
  result.all_permitted = plan.unseen.empty();
  result.unseen = plan.unseen;
  result.unseen.insert(result.unseen.end(), watched.unseen.begin(), watched.unseen.end());
  // the evidence is stored without results of the recording, because --from reads the recording again
  const InvestigationResult before_reading = result;
  result.cost = watched.cost;
  std::string trace = watched.recorded_seconds > 0 ? place.folder() + "/trace.kmt" : "";
  if (!trace.empty() && !could_read_trace(
                            trace, [&] { return watched.trace_has_stacks; }, watched.evidence, result))
    trace.clear();
  if (watched.evidence.trace) watched.evidence.memory_cgroups = memory_cgroups_of(*watched.evidence.trace);
  if (place.keeps_files()) {
    write_new_file(fmt::format("{}/{}", place.folder(), kEvidenceFile),
                   json_evidence(before_reading, watched.evidence));
    watched.written.emplace_back(kEvidenceFile);
  }
  const SnapshotResult& after = watched.stock_after;
  result.diff = diff(watched.stock_before, after);
  result.owners = growth_of_owners(watched.stock_before.memory.owners, after.memory.owners);
  result.census = watched.census;
  add_waiting_share(watched.stock_before.memory, after.memory, watched.seconds_between_snapshots, result.waits);
  result.judgement = judge(watched.evidence);
  add_names(after, result.judgement);
  const auto unread = inspect(after, {}, result);
  if (const std::string objects = json_sampled_caches(result.large_caches, unread);
      place.keeps_files() && !objects.empty()) {
    write_new_file(fmt::format("{}/{}", place.folder(), kObjectsFile), objects);
    watched.written.emplace_back(kObjectsFile);
  }
  return give(options, place, watched.written, trace, result);
}

void take_kernel(const CopiedKernel& copied, InvestigationResult& result) {
  if (!copied.after && copied.states.empty()) return;
  const KernelMemory memory = copied.after ? copied.after->memory : parse_snapshot(copied.states.back(), 0);
  result.kernel = memory.release;
  result.machine = memory.machine;
  result.host = memory.host;
}

double seconds_between(const std::vector<StateSample>& states) {
  return static_cast<double>(states.back().ticks - states.front().ticks) / 1e9;
}

// Uses the changes between the copied states as evidence. Reports which parts of the copies are missing.
void take_states(const CopiedKernel& copied, InvestigationEvidence& evidence, InvestigationResult& result) {
  if (!copied.only_slabinfo.empty())
    result.unseen.push_back(
        {copied.only_slabinfo.size() == copied.states.size()
             ? "everything except slab caches"
             : fmt::format("everything except slab caches in {}", fmt::join(copied.only_slabinfo, ", ")),
         "there is no meminfo among these copies", "copy it too"});
  if (copied.is_log)
    result.unseen.push_back({"slab caches, vmalloc and percpu memory", "the kernel's log does not have them",
                             "copy /proc/meminfo, slabinfo, vmallocinfo and zoneinfo at two or more times"});
  if (!copied.lacking_slabinfo.empty())
    result.unseen.push_back({copied.lacking_slabinfo.size() == copied.states.size()
                                 ? "slab caches"
                                 : fmt::format("slab caches in {}", fmt::join(copied.lacking_slabinfo, ", ")),
                             "there is no slabinfo among these copies", "copy it too, as root"});
  if (!copied.lacking_meminfo.empty())
    result.unseen.push_back({fmt::format("the content of the copies in {}", fmt::join(copied.lacking_meminfo, ", ")),
                             "there is neither meminfo nor slabinfo among them", "copy these too"});
  for (const MissingSource& note : copied.notes)
    result.unseen.push_back({fmt::format("a part of the {}", note.name), note.why, note.how});
  result.unsure_order = !copied.no_order.empty();
  if (!copied.no_order.empty())
    result.unseen.push_back(
        {"the order of the states", copied.no_order, "name the folders before and after, or 1, 2, 3"});
  if (!copied.no_times.empty()) {
    result.timeless_states = copied.states.size();
    result.unseen.push_back(
        {"the rate of change", copied.no_times,
         copied.no_order.empty() ? "copy /proc/uptime with the other files, or give the time: --for 1h" : ""});
  } else if (copied.states.size() > 1) {
    evidence.states = states_over_time(copied.states, copied.page_size);
    evidence.seconds = seconds_between(copied.states);
  }
}

int investigate_copies(const Command& command, const InvestigateArguments& options) {
  if (options.dry_run) throw Error("--dry-run plans for this machine, but --from reads copies: choose one");
  InvestigationPlace place(options.output, options.from);
  if (place.keeps_files())
    confine_reading(command, {}, {place.folder()});
  else
    confine_reading(command, {place.page()});
  CopiedKernel copied = read_copies(options.from, options.duration.empty() ? 0 : parse_duration(options.duration));
  const bool was_watched = !copied.evidence.empty();
  if (!options.duration.empty() && (was_watched || copied.states.size() < 2))
    throw Error("With --from, --for is the time between folders with copies, but FOLDER has no such folders")
        .hint("Omit --for")
        .at({options.from, {}, {}});
  InvestigationResult result;
  InvestigationEvidence evidence;
  if (was_watched) {
    read_evidence(copied.evidence, result, evidence);
    // there was no recording, so a trace in the folder is from an older or unfinished run
    if (result.trace_seconds == 0) copied.trace.clear();
  } else {
    take_kernel(copied, result);
    take_states(copied, evidence, result);
  }
  if (!copied.damaged.empty())
    result.unseen.push_back({"the content of damaged copies", fmt::format("{}", fmt::join(copied.damaged, "; ")),
                             "copy these files again, completely"});
  evidence.copied = !was_watched;
  if (!was_watched || !options.threshold.empty()) evidence.threshold_bytes_per_s = threshold_of(options);
  if (!copied.trace.empty()) {
    AnalyseOptions analysing;
    analysing.trace.files = {copied.trace};
    analysing.trace.progress = false;
    const auto has_stacks = [&] { return begins_with_stacks(analysing); };
    if (!was_watched && (!copied.before || !copied.after))
      // An unreadable trace is an error here, because there may be no other evidence.
      read_trace(copied.trace, has_stacks(), evidence, result);
    else if (!could_read_trace(copied.trace, has_stacks, evidence, result))
      copied.trace.clear();
    if (!was_watched) result.trace_seconds = evidence.trace ? evidence.trace->seconds() : 0;
  } else if (!was_watched || result.trace_seconds > 0) {
    result.unseen.push_back({"the allocating code", "there is no trace among the copies",
                             "run `kmemtrace record --stacks -d 1m` on that machine, and copy its trace.kmt into the "
                             "folder of the copies"});
  }
  if (copied.before && copied.after) {
    result.diff = diff(*copied.before, *copied.after);
    result.owners = growth_of_owners(copied.before->memory.owners, copied.after->memory.owners);
    if (copied.before->pages && copied.after->pages)
      result.census = census_change(*copied.before->pages, *copied.after->pages, copied.after->memory.page_size);
  }
  if (!copied.is_log) result.copies = {copied.before_path, copied.after_path, copied.trace};
  result.narrowing = evidence.narrowing;
  result.seconds = evidence.seconds;
  result.judgement = judge(evidence);
  // the times of the states themselves are needed: `result.seconds` may be the length of the trace
  if (copied.no_times.empty() && copied.states.size() > 1)
    add_waiting_share(parse_snapshot(copied.states.front(), 0), parse_snapshot(copied.states.back(), 0),
                      seconds_between(copied.states), result.waits);
  if (copied.after) add_names(*copied.after, result.judgement);
  if (copied.after) inspect(*copied.after, copied.objects, result);
  if (!was_watched && result.judgement.followed == 0 && (result.diff || copied.states.size() > 1) &&
      copied.states.size() < Trend::kFewestValues)
    result.unseen.push_back({"whether the change continues",
                             copied.no_times.empty() ? fmt::format("{} states show only the difference between them",
                                                                   std::max<std::size_t>(copied.states.size(), 2))
                                                     : "without times, rates cannot be computed",
                             fmt::format("make copies at {} or more points in time", Trend::kFewestValues)});
  place.make();
  return give(options, place, {}, copied.trace, result);
}

std::string check_percent(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  const bool is_good = *end == '\0' && percent >= 0.01 && percent <= 100;
  return is_good ? "" : fmt::format("\"{}\" is not a number from 0.01 to 100", text);
}

}  // namespace

Command investigate_command() {
  const auto options = std::make_shared<InvestigateArguments>();
  Command command{"investigate", "Find growing kernel memory, and the code and processes that cause the growth.",
                  kInvestigateFooter, [options](const Command& self) {
                    return options->from.empty() ? investigate_live(*options) : investigate_copies(self, *options);
                  }};
  command.option("--for", &options->duration, "T",
                 "Watch for time T: 30s, 2m, 1h (default: 2m)\nWith --from, T is the time between the first and the "
                 "last copy (default: computed from their uptimes).");
  command.option("-o,--output", &options->output, "DIR|FILE.html",
                 "Write the page, snapshots, samples, recording and summary.json into the folder DIR, or the page "
                 "alone to FILE.html\nDIR may be new or empty. If DIR is from an earlier investigation, its files are "
                 "replaced. The default is a new folder with the current time in its name.");
  command.flag("--dry-run", &options->dry_run, "Only show the plan, its cost, and what cannot be observed");
  command.option(
      "--from", &options->from, "PATH",
      "Investigate copies in the folder PATH instead of this machine\nPATH contains two folders named before "
      "and after, or more folders from different times. Each of them has copies of kernel files, as for `kmemtrace "
      "snapshot --from`. PATH may also contain trace.kmt, trace.dat or perf.data, or be a folder that -o wrote. "
      "PATH may also be a kernel log with reports of several OOM kills, or the folder or archive of a support tool "
      "with such a log.",
      {.excludes = {"--dry-run", "--btf"}});
  command.option("--threshold", &options->threshold, "RATE", "Report growth above RATE: 64K/m, 1M/h (default: 64K/m)");
  command.option(
      "--cpu", &options->cpu, "PERCENT",
      "Use at most PERCENT of this machine's CPU time (default: 1)\nSampling and recording stop before they would "
      "exceed this budget. The budget is at least 2.4 s; the start and end of an investigation use about one second.",
      {.check = check_percent});
  add_types_option(command, options->btf);
  add_result_options(command, options->result, "kmemtrace.investigate/1", "plain digits and full names");
  return command;
}

}  // namespace kmt
