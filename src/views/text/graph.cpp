// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/graph.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "results/group.hpp"
#include "views/text/findings.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kNoStep = ~std::size_t{0};

// Formats a duration like ftrace does: microseconds in seven characters. A duration above 10 us has a mark. The
// kernel's code is in kernel/trace/trace_functions_graph.c and in trace_find_mark() of kernel/trace/trace_output.c
// (Linux 6.1).
std::string duration_text(const std::optional<std::uint64_t>& duration_ns) {
  if (!duration_ns) return std::string(14, ' ');
  constexpr std::pair<std::uint64_t, char> kMarks[] = {{1'000'000'000, '$'}, {100'000'000, '@'}, {10'000'000, '*'},
                                                       {1'000'000, '#'},     {100'000, '!'},     {10'000, '+'}};
  char mark = ' ';
  for (const auto& [above, sign] : kMarks) {
    if (*duration_ns <= above) continue;
    mark = sign;
    break;
  }
  std::string number = fmt::format("{}.{:03}", *duration_ns / 1000, *duration_ns % 1000);
  const std::size_t point = number.find('.');
  number.resize(std::max<std::size_t>(std::min<std::size_t>(number.size(), 7), point));
  if (number.back() == '.') number.pop_back();
  return fmt::format("{} {:<12}", mark, number + " us");
}

// Returns the bytes and the number of allocations: "slab 1.2 KiB in 3, 192 B live in 1".
std::string inside_text(Allocator allocator, const InsideSum& sum, const TextStyle& style) {
  std::string text(name_of(allocator));
  if (sum.allocations > 0) {
    text += fmt::format(" {} in {}", say_bytes(sum.bytes, style), say_count(sum.allocations, style));
    if (sum.live_allocations == sum.allocations && sum.live_bytes == sum.bytes)
      text += ", all live";
    else if (sum.live_bytes == 0 && sum.live_allocations == 0)
      text += ", none live";
    else
      text += fmt::format(", {} live in {}", say_bytes(sum.live_bytes, style), say_count(sum.live_allocations, style));
  }
  if (sum.failed > 0) text += fmt::format("{} {} failed", sum.allocations > 0 ? "," : "", say_count(sum.failed, style));
  return text;
}

std::string return_text(std::uint64_t value, unsigned word_bits) {
  const auto error = returned_error(value, word_bits);
  if (!error) return fmt::format("= {:#x}", value);
  const std::string name = error_name(*error);
  return name.empty() ? fmt::format("= {}", *error) : fmt::format("= {} ({})", *error, name);
}

class GraphText {
 public:
  GraphText(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style)
      : result_(result), options_(options), style_(style) {
    for (const TracedCall& call : result.calls)
      cpu_width_ = std::max(cpu_width_, digits(std::max(call.cpu, call.end_cpu)));
    find_leaves_and_blocks();
  }

  std::string text() {
    out_ = fmt::format("#{:>{}}  DURATION         FUNCTION CALLS\n", "CPU", cpu_width_ + 1);
    for (std::size_t i = 0; i < result_.steps.size(); ++i) {
      const GraphStep step = result_.steps[i];
      const TracedCall& call = result_.calls[step.call];
      show_gaps(step.is_end ? call.ended_ns : call.began_ns);
      if (step.is_end)
        end(step.call, call);
      else
        begin(step.call, call);
    }
    if (result_.calls.size() == result_.calls_selected) show_gaps(~std::uint64_t{0});
    return std::move(out_);
  }

 private:
  static unsigned digits(unsigned number) { return static_cast<unsigned>(fmt::formatted_size("{}", number)); }

  // Finds calls that are shown on one line, and blocks of interrupts. A call needs only one line if no other line of
  // the same CPU comes before its end. Consecutive interrupts during the same call are one block.
  void find_leaves_and_blocks() {
    leaf_.resize(result_.calls.size());
    follows_in_block_.resize(result_.calls.size());
    ends_block_.resize(result_.calls.size(), true);
    std::map<unsigned, std::size_t> last;  // index of the last step of each CPU
    for (std::size_t i = 0; i < result_.steps.size(); ++i) {
      const GraphStep step = result_.steps[i];
      const TracedCall& call = result_.calls[step.call];
      const unsigned cpu = step.is_end ? call.end_cpu : call.cpu;
      const auto [before, is_first] = last.try_emplace(cpu, kNoStep);
      if (step.is_end && before->second != kNoStep) {
        const GraphStep& begin = result_.steps[before->second];
        leaf_[step.call] = leaf_[step.call] || (begin.call == step.call && !begin.is_end);
      }
      if (!step.is_end && before->second != kNoStep) {
        const GraphStep& end = result_.steps[before->second];
        if (end.is_end && are_of_one_block(result_.calls[end.call], call)) {
          ends_block_[end.call] = false;
          follows_in_block_[step.call] = true;
        }
      }
      before->second = i;
    }
  }

  // Returns whether two interrupts are in one block. A call of irq_enter() starts a new block.
  bool are_of_one_block(const TracedCall& call, const TracedCall& next) const {
    return call.on_top && next.on_top && call.interrupt == next.interrupt && call.parent == next.parent &&
           call.tid == next.tid && !result_.functions[next.function].name.starts_with("irq_enter");
  }

  void line(unsigned cpu, const std::optional<std::uint64_t>& duration_ns, unsigned level, std::string_view text) {
    out_ += fmt::format(" {:>{}}) {}|  {:{}}{}\n", cpu, cpu_width_, duration_text(duration_ns), "", 2 * level, text);
  }

  // Prints the events that were lost before `time_ns`, with one line for each CPU. The words are those of ftrace
  // (print_trace_line() in kernel/trace/trace.c).
  void show_gaps(std::uint64_t time_ns) {
    std::map<unsigned, std::optional<std::uint64_t>> lost;  // value: number of lost events; empty if unknown
    for (; next_gap_ < result_.gaps.size() && result_.gaps[next_gap_].before_ns < time_ns; ++next_gap_) {
      const LostEvents& gap = result_.gaps[next_gap_];
      std::optional<std::uint64_t>& sum = lost.try_emplace(gap.cpu, 0).first->second;
      sum = sum && gap.count ? std::optional(sum_of_counts(*sum, *gap.count)) : std::nullopt;
    }
    for (const auto& [cpu, count] : lost)
      out_ +=
          count ? fmt::format("CPU:{} [LOST {} EVENTS]\n", cpu, *count) : fmt::format("CPU:{} [LOST EVENTS]\n", cpu);
  }

  // Prints a line for a task switch on a CPU in the format of ftrace.
  void show_task(unsigned cpu, const TracedCall& call) {
    const std::string task = call.tid < 0 ? "<...>" : fmt::format("{}-{}", ascii(call.task), call.tid);
    const auto [running, is_first] = running_.try_emplace(cpu, task);
    if (running->second == task && !is_first) return;
    const std::string rule = " ------------------------------------------\n";
    out_ += is_first ? fmt::format("{} {:>{}}) {}\n{}\n", rule, cpu, cpu_width_, task, rule)
                     : fmt::format("{} {:>{}}) {}  =>  {}\n{}\n", rule, cpu, cpu_width_, running->second, task, rule);
    running->second = task;
  }

  std::string name_of_function(const TracedCall& call) const { return ascii(result_.functions[call.function].name); }

  // Returns the call with its arguments and result: "vfs_read(file=0xffff…, count=4096) = 4096"
  std::string head(const TracedCall& call) const {
    std::string text = name_of_function(call) + '(';
    if (options_.arguments && call.arguments) text += values_text(*call.arguments);
    text += ')';
    if (options_.return_values && call.typed && call.result) text += " = " + value_text(*call.result, true);
    // The ellipsis that marks a cut string is the only non-ASCII character in the text.
    constexpr std::string_view kCut = "…";
    for (std::size_t at = 0; !style_.unicode && (at = text.find(kCut, at)) != std::string::npos;)
      text.replace(at, kCut.size(), "...");
    return text;
  }

  std::string comment(std::string_view function, const TracedCall& call) const {
    std::vector<std::string> parts;
    if (options_.return_values && call.typed && call.result && !call.begin_seen)
      parts.push_back("= " + value_text(*call.result, true));
    if (options_.return_values && !call.typed && call.return_value)
      parts.push_back(return_text(*call.return_value, result_.trace.word_bits));
    for (std::size_t i = 0; i < kAllocators; ++i)
      if (call.inside[i].any()) parts.push_back(inside_text(static_cast<Allocator>(i), call.inside[i], style_));
    if (!call.begin_seen) parts.push_back("start not in the trace");
    if (!call.end_seen) parts.push_back("end not in the trace");
    if (call.end_cpu != call.cpu) parts.push_back(fmt::format("from CPU {}", call.cpu));
    if (call.lost_events) parts.push_back(call.only_missed ? "calls may have been missed" : "events were lost");
    if (parts.empty()) return {};
    return fmt::format(" /* {}{}{} */", function, function.empty() ? "" : ": ", fmt::join(parts, "; "));
  }

  void begin(std::uint32_t index, const TracedCall& call) {
    show_task(call.cpu, call);
    if (call.on_top && !follows_in_block_[index])
      line(call.cpu, {}, call.level, fmt::format("==========> {}", interrupt_name(call)));
    if (leaf_[index])
      line(call.cpu, call.duration_ns, call.level,
           head(call) + (call.inside_hidden ? " { ... }" : ";") + comment({}, call));
    else
      line(call.cpu, {}, call.level, head(call) + " {" + (call.end_seen ? "" : comment({}, call)));
    if (leaf_[index]) end_interrupt(index, call);
  }

  void end(std::uint32_t index, const TracedCall& call) {
    if (leaf_[index]) return;
    show_task(call.end_cpu, call);
    const std::string name = name_of_function(call);
    const std::string end_comment = comment(name, call);
    line(call.end_cpu, call.duration_ns, call.level, "}" + end_comment);
    end_interrupt(index, call);
  }

  void end_interrupt(std::uint32_t index, const TracedCall& call) {
    if (call.on_top && ends_block_[index])
      line(call.end_cpu, {}, call.level, fmt::format("<========== {}", interrupt_name(call)));
  }

  const CallGraphResult& result_;
  const GraphOptions& options_;
  const TextStyle& style_;
  unsigned cpu_width_ = 1;
  std::size_t next_gap_ = 0;
  std::vector<bool> leaf_;              // indexed by call: true if the call is shown on one line
  std::vector<bool> follows_in_block_;  // indexed by call: true if the previous call is in the same block of interrupts
  std::vector<bool> ends_block_;
  std::map<unsigned, std::string> running_;  // key: CPU; value: the task that runs on it
  std::string out_;
};

std::string function_table(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style) {
  std::vector<const GraphFunction*> rows = sorted_functions(result.functions, *options.sort);
  std::erase_if(rows, [](const GraphFunction* row) { return row->calls + row->cut_off == 0; });
  const std::size_t all = rows.size();
  if (options.top != 0 && rows.size() > options.top) rows.resize(options.top);
  const auto shown = [&](const Column<GraphFunction>& column) {
    if (style.raw || &column == options.sort) return true;
    if (column.key == "selected") return options.sums_beyond;
    const auto says = [&](const GraphFunction* row) {
      const Cell cell = column.get(*row);
      return cell != Cell{} && cell != Cell{std::uint64_t{0}};
    };
    return column.usual ? column.importance < 8 || std::ranges::any_of(rows, says) : std::ranges::any_of(rows, says);
  };
  Table table = make_table(graph_function_columns(), rows, style.raw, shown);
  // These columns show that numbers are incomplete. So a narrow table drops other columns first.
  for (TableColumn& column : table.columns)
    if (column.header == "Cut off" || column.header == "Lossy" || column.header == "Failed")
      column.importance = std::min<unsigned>(column.importance, 1);
  // The heading states whether the numbers include calls that the filters exclude, because a narrow table may drop the
  // column "selected".
  const char* const of_what = options.sums_beyond ? ", of all calls, selected or not" : "";
  std::string out =
      "\n" + heading(fmt::format("Functions, by {}{}", options.sort->key, of_what), style) + to_text(table, style);
  if (rows.size() < all)
    out += hanging("  ",
                   fmt::format("and {} more; --top 0 shows all", say_number_of(all - rows.size(), "function", style)),
                   style);
  return out;
}

// Returns "vfs_read was" or "vfs_read, vfs_write and 3 more were".
std::string functions_text(const std::vector<std::string>& functions) {
  constexpr std::size_t kMostNamed = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(functions.size(), kMostNamed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ascii(functions[i]));
  if (functions.size() > kMostNamed) text += fmt::format(" and {} more", functions.size() - kMostNamed);
  return text + (functions.size() == 1 ? " was" : " were");
}

// Returns notes on requested data that the trace does not have.
std::string missing_data(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style) {
  std::string out;
  const auto say = [&](const char* text) { out += "\n" + hanging("", text, style); };
  const bool lacks_results = options.return_values && !result.has_return_values && result.calls_traced > 0;
  if (result.is_blank && ((options.arguments && !result.has_arguments) || lacks_results)) {
    say("Arguments and results of calls were removed when the trace was made anonymous.");
    return out;
  }
  if (options.arguments && !result.has_arguments)
    say("The trace has no arguments. ftrace records them since Linux 6.15 if the kernel has the option "
        "funcgraph-args and it is set.");
  else if (options.arguments && !result.has_types)
    say("The trace does not have the types of the arguments. The traced kernel has them in /sys/kernel/btf/vmlinux: "
        "copy this file and name the copy with --btf.");
  if (lacks_results)
    say("The trace has no return values. ftrace records them since Linux 6.5 if the kernel was built with "
        "CONFIG_FUNCTION_GRAPH_RETVAL (Debian kernels are not) and the option funcgraph-retval is set. kmemtrace graph "
        "FUNCTION also records them, with BPF or kprobe events.");
  return out;
}

bool is_damaged(const Findings& findings) {
  for (std::size_t kind = 0; kind < kImperfections.size(); ++kind)
    if (kImperfections[kind].severity == Severity::error && findings.count_of(static_cast<Imperfection>(kind)) > 0)
      return true;
  return false;
}

std::string calls_text(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style) {
  const auto say = [&](const std::string& text) { return "\n" + hanging("", text, style); };
  if (result.calls_traced == 0 && !result.not_called.empty())
    return say(fmt::format("{} not called while recording.", functions_text(result.not_called)));
  if (result.calls_traced == 0)
    return say(
        "This trace has no calls with a start and an end; the function tracer does not record them. To record calls, "
        "run: kmemtrace graph FUNCTION -- COMMAND, or with ftrace's "
        "function_graph: trace-cmd record -p function_graph -g FUNCTION -e kmem COMMAND");
  const std::string not_called =
      result.not_called.empty() ? ""
                                : say(fmt::format("{} not called while recording.", functions_text(result.not_called)));
  if (result.calls.empty())
    return say(fmt::format("Nothing to show: none of {} passes the options that select calls ({}).",
                           say_number_of(result.calls_traced, "call", style), options.filters)) +
           missing_data(result, options, style) + not_called;
  std::string out = "\n" + GraphText(result, options, style).text();
  if (result.calls.size() < result.calls_selected)
    out += say(fmt::format("{} more; --limit 0 shows all",
                           say_number_of(result.calls_selected - result.calls.size(), "call", style)));
  return out + missing_data(result, options, style) + not_called + function_table(result, options, style);
}

}  // namespace

std::string text_graph(const CallGraphResult& result, const GraphOptions& options, const TextStyle& style) {
  std::string out = trace_lines(result.trace, say_count(result.trace.events, style), style);
  out += labelled(
      "calls",
      fmt::format(
          "{} traced{}", say_count(result.calls_traced, style),
          !options.filters.empty() ? fmt::format(", {} selected", say_count(result.calls_selected, style)) : ""),
      style);
  std::vector<std::string> outside;
  for (std::size_t i = 0; i < kAllocators; ++i)
    if (result.outside[i].any()) outside.push_back(inside_text(static_cast<Allocator>(i), result.outside[i], style));
  if (!outside.empty()) out += labelled("outside", fmt::format("{}", fmt::join(outside, "; ")), style);
  std::map<std::string, std::vector<std::string>> refused;  // key: reason; value: names of functions
  for (const RefusedFunction& one : result.refused) refused[printable(one.why)].push_back(printable(one.name));
  for (const auto& [why, names] : refused)
    out += labelled("refused", fmt::format("{}: {}", first_of(names), why), style);
  std::map<std::string, std::uint64_t> missed;
  for (const MissedEvents& one : result.missed) missed[one.function] += one.count;
  for (const auto& [function, count] : missed)
    out += labelled("missed",
                    fmt::format("{} of unknown CPU; calls that ran at about that time are marked",
                                function.empty() ? say_number_of(count, "event", style)
                                                 : fmt::format("{} {} of {}", say_count(count, style),
                                                               count == 1 ? "start or end" : "starts and ends",
                                                               printable(function))),
                    style);
  const std::string found = anomaly_section({}, result.findings, false, style);
  // In a damaged trace, the damaged part may have contained calls.
  if (result.calls_traced == 0 && is_damaged(result.findings))
    return out + found + "\n" + hanging("", "No calls could be read.", style);
  return out + calls_text(result, options, style) + found;
}

}  // namespace kmt
