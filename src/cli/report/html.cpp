// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/html.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/report/diff.hpp"
#include "analysis/report/leaks.hpp"
#include "analysis/report/timeline.hpp"
#include "base/units.hpp"
#include "cli/input/damage_note.hpp"
#include "cli/input/reading.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/result_file.hpp"
#include "cli/support/say.hpp"
#include "results/series/thresholds.hpp"
#include "views/html/report.hpp"
#include "views/json/diff.hpp"
#include "views/json/explore.hpp"
#include "views/json/graph.hpp"
#include "views/json/leaks.hpp"
#include "views/json/report.hpp"
#include "views/json/timeline.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostRows = 2000;  // maximum number of rows per table of the page; JSON output has all rows
// maximum number of rows of leaks; smaller than kMostRows, because each row has a curve
constexpr std::size_t kMostLeaks = 200;
constexpr std::size_t kFirstCalls = 1000;
constexpr std::size_t kLongestWaits = 100;
constexpr std::size_t kSlowestCalls = 1000;

// The results of analysing one trace for a page.
struct Answers {
  ReportResult by_site;
  ReportResult by_cache;
  ReportResult by_task;
  ReportResult growing;
  ReportResult traffic;
  CallsQuestion calls;
  std::optional<StallsResult> stalls;
  bool has_stacks = false;

  bool complete() const { return by_site.trace.complete; }
};

// A trace and the options for reading it.
struct Reading {
  AnalyseOptions options;
  CallGraphRequest calls;  // selects the calls to show
  bool with_calls = false;
};

Answers ask(const Reading& reading, const ReportFilter& filter, bool has_stacks) {
  const std::vector<GroupKey> keys[] = {{GroupKey::call_site},
                                        {GroupKey::cache},
                                        {GroupKey::comm},
                                        usual_leak_keys(has_stacks),
                                        explore_keys(has_stacks)};
  std::vector<ReportRequest> requests;
  for (const std::vector<GroupKey>& by : keys) {
    ReportRequest& request = requests.emplace_back();
    request.filter = filter;
    request.by = by;
  }
  requests[1].history = true;
  requests[3].history = requests[3].history_of_live = requests[3].holders = requests[3].until_cut = true;
  requests[4].traffic = true;
  AnalyseOptions options = reading.options;
  options.trace.call_records = reading.with_calls;
  CallsQuestion calls;
  calls.wanted = reading.with_calls;
  calls.request = reading.calls;
  calls.request.arguments = true;
  calls.request.limit = kFirstCalls;
  calls.request.slowest = kSlowestCalls;
  StallsRequest stalls{.request = {.filter = filter, .by = {}}, .longest = kLongestWaits};
  std::vector<ReportResult> results = analyse(options, std::move(requests), &calls, &stalls);
  return {std::move(results[0]), std::move(results[1]), std::move(results[2]),    std::move(results[3]),
          std::move(results[4]), std::move(calls),      std::move(stalls.result), has_stacks};
}

// Compares two traces by stack if both have stacks, and otherwise by call site. Only the first events of a trace are
// checked for stacks and calls. If stacks or calls appear only later, the traces are read again.
std::vector<Answers> ask(std::vector<Reading> readings, const ReportFilter& filter) {
  const auto ask_all = [&](bool by_stack) {
    std::vector<Answers> answers;
    answers.reserve(readings.size());
    for (const Reading& reading : readings) answers.push_back(ask(reading, filter, by_stack));
    return answers;
  };
  const bool by_stack = std::ranges::all_of(readings, begins_with_stacks, &Reading::options);
  std::vector<Answers> answers = ask_all(by_stack);
  const auto turned_out = [](const Answers& of_trace) {
    return of_trace.by_site.trace.stacks > 0 && of_trace.complete();
  };
  const bool has_stacks = by_stack || std::ranges::all_of(answers, turned_out);
  bool has_more_calls = false;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i].with_calls || !answers[i].calls.there || !answers[i].complete()) continue;
    readings[i].with_calls = has_more_calls = true;
  }
  return has_stacks != by_stack || has_more_calls ? ask_all(has_stacks) : std::move(answers);
}

std::string calls_document(const CallsQuestion& calls, bool unfiltered) {
  if (!calls.wanted) return "null";
  GraphOptions view;
  view.sort = &column_named(pointers_to(graph_function_columns()), "total-time");
  view.most_functions = kMostRows;
  view.arguments = view.return_values = view.texts = true;
  return fmt::format(R"({{"first":{},"slowest":{},"unfiltered":{},"graph":{}}})", kFirstCalls, kSlowestCalls,
                     unfiltered, json_graph(calls.result, view));
}

// True if the options select events by properties that calls do not have. In that case, the page shows no calls.
bool leaves_calls(ReportFilter filter) {
  filter.pids.clear();
  return !filter.selects_all();
}

HtmlTrace documents_of(Answers& answers, const ReportFilter& filter) {
  const bool filtered = !filter.selects_all();
  ReportOptions view;
  view.limit = kMostRows;
  view.filtered = filtered;
  LeaksOptions leaks_view;
  leaks_view.limit = kMostLeaks;
  leaks_view.filtered = filtered;
  TimelineRequest timeline;
  timeline.balances = !filtered;
  HtmlTrace html;
  html.report = json_report(answers.by_site, view);
  html.caches = json_groups(answers.by_cache, view);
  html.tasks = json_groups(answers.by_task, view);
  TimelineResult over_time = timeline_of(std::move(answers.by_cache), timeline);
  over_time.stalls = std::move(answers.stalls);
  html.timeline = json_timeline(over_time);
  html.leaks = json_leaks(leaks_of(answers.growing, kThresholds.usual_bytes_per_s), leaks_view);
  html.explore = json_explore(answers.traffic, answers.has_stacks);
  html.calls = calls_document(answers.calls, leaves_calls(filter));
  return html;
}

}  // namespace

bool write_html(const std::string& path, const std::vector<TraceFiles>& traces, const AnalyseOptions& options,
                const ReportFilter& filter, const std::string& investigation, const CallGraphRequest* calls) {
  std::vector<std::string> inputs;
  for (const TraceFiles& files : traces) inputs.insert(inputs.end(), files.begin(), files.end());
  if (inputs.empty() && !traces.empty()) inputs = {default_trace()};
  ResultFile file(path, inputs);
  std::vector<Reading> readings;
  for (const TraceFiles& files : traces) {
    Reading& reading = readings.emplace_back(Reading{options, {}});
    reading.calls.pids = filter.pids;
    if (calls != nullptr) reading.calls = *calls;
    reading.options.trace.files = files;
    reading.with_calls = begins_with_calls(reading.options);
  }
  std::vector<Answers> answers;
  if (!readings.empty()) answers = ask(readings, filter);
  std::vector<HtmlTrace> documents;
  bool complete = true;
  for (Answers& of_trace : answers) {
    say_damage(of_trace.by_site.findings);
    documents.push_back(documents_of(of_trace, filter));
    complete = complete && of_trace.complete();
  }
  std::string diff_document;
  if (traces.size() == 2) {
    DiffOptions view;
    view.limit = kMostRows;
    diff_document = json_diff(diff(answers[0].by_site, answers[1].by_site, {}), view);
  }
  const char* const front = !investigation.empty() ? "findings" : calls != nullptr ? "calls" : "";
  const std::string html = html_report(documents, diff_document, investigation, front);
  file.write(html);
  file.finish();
  say("Wrote {} to {}\n", humane_bytes(html.size()), file.name());
  if (!complete) say_interrupted("page");
  return complete;
}

}  // namespace kmt
