// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/investigation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"
#include "views/common/conclusion.hpp"
#include "views/text/lines.hpp"
#include "views/text/snapshot.hpp"
#include "views/text/snapshot/dying_cgroups.hpp"
#include "views/text/snapshot/health.hpp"
#include "views/text/snapshot/inspection.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

// Differences of less than 5 % are ignored, because the numbers are rounded and estimated.
constexpr double kClearly = 1.05;
constexpr std::size_t kMostLines = 60;
constexpr std::size_t kMostDifferences = 8;

// How much the text shows of each part; the numbers are limits. kDetails lists several levels. The first level with
// which the text fits into kMostLines is used.
struct Detail {
  std::size_t findings;
  std::size_t rows;  // number of rows per finding
  std::size_t frames;
  std::size_t states;
  std::size_t sources;  // sources that could not be read
  bool explains;        // true: explain the columns of the counters
  bool files;           // true: print one line for each file
};
constexpr std::array<Detail, 6> kDetails = {{{5, 5, 12, 8, 20, true, true},
                                             {4, 3, 8, 6, 8, true, false},
                                             {3, 2, 6, 5, 4, false, false},
                                             {2, 2, 5, 4, 3, false, false},
                                             {2, 1, 4, 3, 2, false, false},
                                             {1, 1, 3, 2, 1, false, false}}};

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0))); }
std::string size_text(double bytes, const TextStyle& style) {
  return (bytes <= -0.5 ? "-" : "") + say_bytes(whole(std::abs(bytes)), style);
}
std::string seconds_text(double seconds) { return humane_duration(whole(seconds * 1e9)); }

// Returns how long something was observed. Below two minutes, shows tenths of a second, like JSON and the HTML page.
std::string span_text(double seconds) {
  return seconds < 120 ? fmt::format("{:.1f} s", seconds) : seconds_text(seconds);
}

std::string change_text(double bytes, const TextStyle& style) {
  return (bytes < 0 ? "-" : "+") + size_text(std::abs(bytes), style);
}

std::string rate_text(const GrowthFinding& finding) {
  const Trend& trend = finding.trend;
  if (finding.since_seconds)
    return fmt::format("{} since about {:.0f} s, computed as its share of the kernel's own count",
                       say_growth(trend.bytes_per_s), *finding.since_seconds);
  return fmt::format("{} ({} to {} with 95% confidence)", say_growth(trend.bytes_per_s), say_growth(trend.low),
                     say_growth(trend.high));
}

std::string threads_text(const FindingProcess& process) {
  constexpr std::size_t kMost = 3;
  if (process.threads.empty()) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(process.threads.size(), kMost); ++i) names.push_back(ascii(process.threads[i]));
  if (process.threads.size() > kMost) names.push_back(fmt::format("{} more", process.threads.size() - kMost));
  return fmt::format(", threads {}", fmt::join(names, ", "));
}

// Returns a share in percent. Different sources never agree exactly, so the share is limited to 100 %.
std::string percent(double part, double whole_of) {
  return fmt::format("{:.0f}%", 100 * std::clamp(part / whole_of, 0.0, 1.0));
}

// Returns the total to which the shares of the rows refer. The rows contain estimates, so their sum may be larger or
// smaller than the total of the finding. Returns the larger of the two.
template <typename Row>
double all_of(const GrowthFinding& finding, const std::vector<Row>& rows) {
  double sum = 0;
  for (const Row& row : rows) sum += row.bytes;
  return std::max({finding.bytes, sum, 1.0});
}

std::string sites_text(const GrowthFinding& finding, const Detail& detail, const TextStyle& style) {
  Table table{{{"Call site", true}, {"Cache", true, 1}, {"Live"}, {"Objects", false, 2}, {"Share"}}, {}};
  for (std::size_t i = 0; i < std::min(finding.sites.size(), detail.rows); ++i) {
    const FindingSite& site = finding.sites[i];
    const std::string about = site.estimated ? "~" : "";
    table.rows.push_back(
        {{ascii(site.call_site), ascii(site.cache), about + size_text(site.bytes, style),
          about + say_count(whole(site.objects), style), percent(site.bytes, all_of(finding, finding.sites))}});
  }
  std::string out = to_text(table, style);
  if (std::ranges::any_of(finding.sites, &FindingSite::estimated))
    out += hanging("  ", "~ memory that was not recorded: estimated from samples", style);
  return out;
}

std::string stack_text(const GrowthFinding& finding, const Detail& detail, const TextStyle& style) {
  const auto site = std::ranges::find(finding.sites, finding.call_site, &FindingSite::call_site);
  if (site == finding.sites.end() || site->stack.size() < 2) return {};
  std::string path;
  for (std::size_t i = 0; i < std::min(site->stack.size(), detail.frames); ++i)
    path += (path.empty() ? "" : " < ") + ascii(site->stack[i]);
  return labelled("stack", path, style);
}

// Returns the total growth of the caches whose growth is too small to be listed.
double rest_of(const GrowthFinding& finding) {
  double rest = finding.trend.bytes_per_s;
  for (const FindingCache& cache : finding.caches) rest -= cache.bytes_per_s;
  return std::max(rest, 0.0);
}

// Returns the processes that allocated the memory. If no single process stands for the memory, returns the number of
// processes first.
std::string processes_text(const GrowthFinding& finding, const Detail& detail, const TextStyle& style) {
  std::string out;
  const bool many = finding.is_of_many_processes();
  if (many) out += labelled("process", ascii(process_words(finding)), style);
  const std::size_t most = many ? std::min<std::size_t>(detail.rows, 2) : detail.rows;
  for (std::size_t i = 0; i < std::min(finding.processes.size(), most); ++i) {
    const FindingProcess& process = finding.processes[i];
    out += labelled(out.empty() ? "process" : "",
                    fmt::format("{}{}{}{}, {} of this memory", ascii(process_words(process)), threads_text(process),
                                process.pod_name.empty() ? "" : ", pod " + ascii(process.pod_name),
                                process.cgroup.empty() ? "" : ", cgroup " + ascii(process.cgroup),
                                percent(process.bytes, all_of(finding, finding.processes))),
                    style);
  }
  return out;
}

// Returns the growth in each cache, compared with the kernel's counter of the cache.
std::string caches_text(const GrowthFinding& finding, const Detail& detail, const TextStyle& style) {
  constexpr double kLeastToTell = 0.005;
  // Above this ratio of the estimate to the kernel's counter, other call sites free this memory, or the estimate is too
  // high.
  constexpr double kMore = 1.25;
  std::string out;
  for (std::size_t i = 0; i < std::min(finding.caches.size(), detail.rows); ++i) {
    const FindingCache& cache = finding.caches[i];
    const bool grows = cache.kernel_bytes_per_s && *cache.kernel_bytes_per_s > 0;
    const bool is_more = grows && cache.bytes_per_s > kMore * *cache.kernel_bytes_per_s;
    const std::string of_all =
        !cache.kernel_bytes_per_s ? std::string(cache.no_account ? words_of(*cache.no_account) : "")
        : grows                   ? fmt::format("{} the {} that the kernel counts for the whole cache",
                              is_more ? std::string("more than")
                                                        : percent(cache.bytes_per_s, *cache.kernel_bytes_per_s) + " of",
                                                say_growth(*cache.kernel_bytes_per_s))
                                  : "but according to the kernel's own counters, the whole cache does not grow";
    out += labelled(i == 0 ? "explains" : "",
                    fmt::format("{} in {}, {}", say_growth(cache.bytes_per_s),
                                ascii(with_merged(cache.shown_name(), cache.merged_with)), of_all),
                    style);
  }
  if (const double rest = rest_of(finding); rest > kLeastToTell * finding.trend.bytes_per_s && detail.explains)
    out += labelled("", say_growth(rest) + " in caches with less than a tenth of this growth each", style);
  return out;
}

std::string finding_text(std::size_t number, const GrowthFinding& finding, const Detail& detail,
                         const TextStyle& style) {
  const double unrecorded = finding.unrecorded_bytes_per_s;
  std::string out = "\n" + heading(fmt::format("{}. {}{} in {}, by {}", number, unrecorded > 0 ? "at least " : "",
                                               say_growth(finding.trend.bytes_per_s), ascii(finding.function),
                                               ascii(process_words(finding))),
                                   style);
  std::string how_sure = fmt::format("{}.", name_of(finding.certainty));
  for (const Reason& reason : finding.reasons) how_sure += fmt::format(" {}.", words_of(reason));
  out += labelled("how sure", how_sure, style);
  out += labelled(
      "how fast",
      fmt::format(
          "{}; {} in {} objects in {}, {}{}", rate_text(finding), size_text(finding.bytes, style),
          say_count(whole(finding.objects), style), span_text(finding.seconds),
          finding.exact ? "all recorded" : "estimated from samples",
          unrecorded > 0 ? fmt::format("; and about {} in caches that were not recorded", say_growth(unrecorded)) : ""),
      style);
  out += labelled("call site", ascii(finding.call_site), style);
  out += stack_text(finding, detail, style);
  if (finding.entry != finding.function) out += labelled("entry", ascii(finding.entry), style);
  return out + processes_text(finding, detail, style) + caches_text(finding, detail, style) +
         (detail.rows > 1 ? sites_text(finding, detail, style) : "");
}

bool explains_too_much(const StateGrowth& state) {
  const double rate = state.bytes_per_s();
  return rate > 0 && state.explained_bytes_per_s > kClearly * rate;
}

std::string states_text(const Judgement& judgement, const Detail& detail, const TextStyle& style) {
  Table table{{{"Rose", true},
               {"From", false, 2},
               {"To", false, 2},
               {"Change"},
               {"Steady rate", false, 1},
               {"Explained"},
               {"", true, 1}},
              {}};
  for (const StateGrowth& state : judgement.states) {
    if (table.rows.size() >= detail.states || state.last <= state.first) break;
    const double rate = state.bytes_per_s();  // 0 or negative if the memory rose in a single step
    table.rows.push_back(
        {{state.name == kUnaccounted ? "unaccounted memory" : ascii(state.shown_name()), size_text(state.first, style),
          size_text(state.last, style), change_text(state.last - state.first, style), rate > 0 ? say_growth(rate) : "-",
          state.explained_bytes_per_s > 0 && rate > 0 ? percent(state.explained_bytes_per_s, rate) : "-",
          state.sure                 ? "confirmed"
          : state.is_recorders       ? "memory for kmemtrace's recording"
          : state.is_slab_accounting ? "accounting data of slabs"
          : state.may_be_in_sheaves  ? "may be free objects in sheaves"
          : state.late               ? fmt::format("rises since about {:.0f} s", state.late->since_seconds)
          : state.reclaimable        ? "reclaimable"
                                     : ""}});
  }
  if (table.rows.empty()) return {};
  std::string out = "\n" + heading("Growth in the kernel's own counters", style) + to_text(table, style) +
                    hanging("  ", "Change: last value minus first. Steady rate: without jumps.", style);
  if (std::ranges::any_of(judgement.states, [](const auto& state) { return state.first < 0 || state.last < 0; }))
    out += hanging("  ", "Unaccounted memory is negative while several counters count the same memory.", style);
  if (!detail.explains) return out;
  out += hanging("  ", "Caches count objects in use; `kmemtrace diff` counts whole slabs.", style);
  if (std::ranges::any_of(judgement.states, [](const auto& state) { return state.explained_bytes_per_s > 0; }))
    out += hanging("  ",
                   "Explained: share of the growth that sure and likely findings explain, with all their caches. "
                   "SUnreclaim counts whole slabs, including free space in them.",
                   style);
  if (std::ranges::any_of(judgement.states, explains_too_much))
    out += hanging("  ",
                   "A line counts as fully explained if findings allocated more than its growth: other code freed the "
                   "difference, or the findings are estimates.",
                   style);
  return out;
}

// Returns a label and a command on a single line, even if the line is long, so that the command can be copied.
std::string command_line(std::string_view label, const std::string& command) {
  return fmt::format("  {:<10} {}\n", label, ascii(command));
}

std::string files_text(const InvestigationResult& result, const Detail& detail, const TextStyle& style) {
  if (result.files.empty()) return {};
  if (!detail.files && !result.folder.empty())
    return labelled("files", fmt::format("in {}/; index.html is the page", ascii(result.folder)), style);
  std::string out = result.folder.empty() ? "" : labelled("files", "in " + ascii(result.folder) + "/", style);
  for (const InvestigationFile& file : result.files)
    out += labelled("", fmt::format("{}: {}", ascii(file.name), file.what), style);
  return out;
}

// Returns the verdict and the commands that show more.
std::string answer_text(const InvestigationResult& result, const TextStyle& style) {
  std::string out = hanging("  ", ascii(conclusion_words(result)), style);
  if (!result.complete)
    out += hanging("  ", fmt::format("The investigation ended early: {}.", ascii(result.cut_short)), style);
  for (const LargeCache& cache : result.large_caches) out += hanging("  ", ascii(words_of(cache)), style);
  for (std::size_t i = 0; i < result.next.size(); ++i) out += command_line(i == 0 ? "next" : "", result.next[i]);
  return out;
}

std::string recording_text(const InvestigationResult& result, const TextStyle& style) {
  if (result.trace_seconds == 0) return {};
  std::vector<std::string> of;
  for (const std::string& cache : result.narrowing.caches) of.push_back(ascii(cache));
  for (const std::uint64_t size : result.narrowing.sizes) of.push_back(kmalloc_name(size));
  for (const std::uint64_t size : result.narrowing.object_sizes) of.push_back(objects_name(size));
  for (const std::uint64_t order : result.narrowing.orders) of.push_back(pages_name(order) + " (kernel only)");
  if (result.narrowing.pages) of.emplace_back("pages (kernel only)");
  std::string text = fmt::format("{} of {}", span_text(result.trace_seconds),
                                 of.empty() ? "all events of the trace" : fmt::format("{}", fmt::join(of, ", ")));
  if (result.lost_events > 0) text += fmt::format("; {} events were lost", say_count(result.lost_events, style));
  return labelled("recorded", text, style);
}

std::string unseen_text(std::span<const UnseenSource> unseen, const TextStyle& style) {
  std::string out;
  for (const UnseenSource& one : unseen)
    out += hanging(
        "  - ", fmt::format("{}: {}{}", ascii(one.what), ascii(one.why), one.how.empty() ? "" : "; " + ascii(one.how)),
        style);
  return out;
}

// True if the CPU time exceeds the requested CPU time. The factor allows for rounding errors: 3 * 0.8 is a little more
// than 0.01 * 240.
bool is_more_than_asked(double cpu_seconds, double asked) { return cpu_seconds > asked * (1 + 1e-9); }

// Returns the duration of a run in which `cpu_seconds` is the fraction `share` of the time of all CPUs. The constant
// allows for rounding errors: 2.4 / 0.01 / 2 exceeds 120.
double seconds_of_share(double cpu_seconds, double share, unsigned cpus) {
  return std::ceil(cpu_seconds / share / cpus - 1e-6);
}

std::string cost_text(const InvestigationCost& cost, double seconds) {
  std::string text = fmt::format("{} of CPU time of kmemtrace", seconds_text(cost.cpu_seconds));
  if (cost.kernel_cpu_seconds > 0)
    text += fmt::format(
        " and about {} in the kernel, {}", seconds_text(cost.kernel_cpu_seconds),
        cost.is_measured ? "measured at intervals with the kernel's clock" : "estimated from the number of events");
  const double all = std::max(seconds * cost.cpus, 1e-9);
  text += fmt::format(": {:.2f}% of {} CPUs", 100 * (cost.cpu_seconds + cost.kernel_cpu_seconds) / all, cost.cpus);
  if (const double spent = cost.cpu_seconds + cost.kernel_cpu_seconds; spent > kClearly * cost.most_cpu_seconds)
    text += fmt::format("; this exceeds the budget of {:.1f} s", cost.most_cpu_seconds);
  if (is_more_than_asked(cost.most_cpu_seconds, cost.cpu_share * all))
    text += fmt::format("; the budget is at least {:.1f} s (to stay within {:.2f}%, watch for {:.0f} s or more)",
                        cost.most_cpu_seconds, 100 * cost.cpu_share,
                        seconds_of_share(cost.most_cpu_seconds, cost.cpu_share, cost.cpus));
  return text;
}

std::string cost_text(const InvestigationPlan& plan) {
  const double all = plan.seconds * plan.cpus;
  std::string text = fmt::format("at least about {:.1f} s of CPU time (two snapshots, states, {}the page)",
                                 plan.least_cpu_seconds, plan.samples ? "loading programs, " : "");
  if (!plan.samples && !plan.trace) return text;
  text += fmt::format("; {} before the cost reaches {:.1f} s, {:.2f}% of {} CPUs",
                      !plan.trace     ? "samples end"
                      : !plan.samples ? "a recording ends"
                                      : "samples and recording end",
                      plan.most_cpu_seconds, 100 * plan.most_cpu_seconds / all, plan.cpus);
  if (is_more_than_asked(plan.most_cpu_seconds, plan.cpu_share * all))
    text += fmt::format(". This is more than the requested {:.2f}%; to stay within it, watch for {:.0f} s or more",
                        100 * plan.cpu_share, seconds_of_share(plan.most_cpu_seconds, plan.cpu_share, plan.cpus));
  return text;
}

// Returns a sentence about when the recording runs. This depends on the load of the machine and on the cost of samples.
std::string when_recorded(const InvestigationPlan& plan) {
  if (!plan.samples) return "it ends early if the CPU budget is used up, as on a busy machine";
  return "it starts only if the CPU budget suffices for a fifth of the duration, or for a few seconds near the end; on "
         "a very busy machine only samples are taken, unless --cpu allows more";
}

std::string title_of(const InvestigationResult& result) {
  std::string of = result.kernel.empty() ? "" : ", Linux " + ascii(result.kernel);
  if (!result.machine.empty()) of += ' ' + ascii(result.machine);
  if (!result.host.empty()) of += " on " + ascii(result.host);
  if (result.seconds > 0) of += ", watched for " + span_text(result.seconds);
  if (result.start_unix_ns != 0) of += " from " + say_time(result.start_unix_ns);
  return "What grows in the kernel's memory" + of;
}

std::string unknown_text(const InvestigationResult& result, const Detail& detail, const TextStyle& style) {
  const Judgement& judgement = result.judgement;
  std::string out = "\n" + heading("Still unknown", style);
  const std::size_t shown = std::min(result.unseen.size(), detail.sources);
  out += unseen_text(std::span(result.unseen).first(shown), style);
  if (shown < result.unseen.size()) out += hanging("  - ", fmt::format("{} more", result.unseen.size() - shown), style);
  if (judgement.excluded_bytes > 0)
    out += hanging("  - ",
                   fmt::format("{} of live memory are not judged: page tables of processes, reclaimable memory, and "
                               "objects that the kernel may free on paths without a tracepoint",
                               size_text(judgement.excluded_bytes, style)),
                   style);
  std::string unknown = "Memory that was allocated earlier is only known as a sum";
  if (judgement.judged > 0)
    unknown += fmt::format("; judged: {} (each has one task and one kernel entry point)",
                           say_number_of(judgement.judged, "group", style));
  return out + hanging("  - ", unknown, style);
}

// Returns how long tasks waited for memory. Empty if unknown.
std::string waits_text(const InvestigatedWaits& waits, const TextStyle& style) {
  std::vector<std::string> parts;
  if (waits.some_share)
    parts.push_back(
        fmt::format("at least one task waited for memory during {:.1f}% of the time", 100 * *waits.some_share));
  if (waits.recorded && waits.recorded->waits > 0) {
    const WaitSums& total = *waits.recorded;
    const std::uint64_t compaction_ns = total.own_ns[static_cast<std::size_t>(StallKind::compaction)];
    std::string text = fmt::format("in the recording, tasks waited {} in {}", say_duration(total.total_ns, style),
                                   say_number_of(total.waits, "wait", style));
    if (compaction_ns > 0) text += fmt::format(", {} of it in compaction", say_duration(compaction_ns, style));
    const WaitGroup& most = waits.processes.front();
    parts.push_back(text +
                    fmt::format("; {} waited longest, {}", ascii(most.name), say_duration(most.sums.total_ns, style)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string text_with(const InvestigationResult& result, const Detail& detail, const TextStyle& style) {
  const Judgement& judgement = result.judgement;
  std::string out = heading(title_of(result), style) + answer_text(result, style);
  const std::size_t shown = std::min(judgement.findings.size(), detail.findings);
  for (std::size_t i = 0; i < shown; ++i) out += finding_text(i + 1, judgement.findings[i], detail, style);
  if (judgement.findings.size() > shown)
    out += fmt::format("\n  {} more{}\n", judgement.findings.size() - shown,
                       result.folder.empty() ? "" : " in summary.json and on the page");
  if (judgement.has_trends() || !result.diff) {
    out += states_text(judgement, detail, style);
  } else {
    SnapshotOptions most;
    most.limit = kMostDifferences;
    out += "\n" + text_snapshot_diff(*result.diff, most, style);
  }
  out += text_large_caches(result, detail.rows, style);
  out += text_census_change(result, style);
  out += text_owner_growth(result, detail.rows, style);
  SnapshotOptions most_cgroups;
  most_cgroups.limit = detail.rows;
  out += text_dying_cgroups(result.dying_cgroups, result.pods, most_cgroups, style);
  if (result.waits.are_long)
    out += "\n" + heading("Waits for memory", style) + hanging("  ", waits_text(result.waits, style), style) +
           command_line("next", "kmemtrace record --stalls --stacks -d 30s && kmemtrace pages --stalls");
  if (const std::string warnings = text_warnings(result.health, style); !warnings.empty())
    out += "\n" + heading("Health checks of the machine's memory", style) + warnings;
  out += unknown_text(result, detail, style);
  out += "\n" + heading("Numbers", style);
  if (!result.health.empty())
    out += labelled("health", health_summary(result.health) + "; `kmemtrace snapshot` lists these checks", style);
  if (const std::string waits = waits_text(result.waits, style); !waits.empty() && !result.waits.are_long)
    out += labelled("waits", waits, style);
  out += recording_text(result, style);
  if (result.cost) out += labelled("cost", cost_text(*result.cost, result.seconds), style);
  return out + files_text(result, detail, style) + concepts_line(style);
}

}  // namespace

std::string text_investigation(const InvestigationResult& result, const TextStyle& style) {
  std::string text;
  for (const Detail& detail : kDetails) {
    text = text_with(result, detail, style);
    if (style.raw || static_cast<std::size_t>(std::ranges::count(text, '\n')) <= kMostLines) break;
  }
  return text;
}

std::string text_investigation_plan(const InvestigationPlan& plan, const TextStyle& style) {
  std::string out = heading(fmt::format("Plan of `investigate` here, for {}", seconds_text(plan.seconds)), style);
  out += labelled("snapshots", "of the kernel's memory files, at the start and the end", style);
  out += labelled("states",
                  fmt::format("{} at least every {}", fmt::join(plan.states, ", "), seconds_text(plan.state_interval)),
                  style);
  out += labelled("samples",
                  plan.samples
                      ? "slab allocations and kernel pages, sampled by BPF programs and followed until they are freed"
                      : "none",
                  style);
  out += labelled("recording",
                  !plan.trace ? "none"
                              : fmt::format("only growing caches and sizes, in the second half of the time{}; {}",
                                            plan.trace_stacks ? ", with stacks" : "", when_recorded(plan)),
                  style);
  out += labelled("cost", cost_text(plan), style);
  if (plan.kernel_bytes > 0) out += labelled("memory", say_bytes(plan.kernel_bytes, style) + " in the kernel", style);
  if (!plan.unseen.empty()) out += "\n" + heading("Not visible here", style) + unseen_text(plan.unseen, style);
  return out;
}

}  // namespace kmt
