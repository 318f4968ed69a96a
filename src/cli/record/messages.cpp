// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/messages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "cli/support/command_end.hpp"

namespace kmt {

namespace {

constexpr double kEvery = 0.5;  // seconds

std::string describe_files(const WrittenTrace& written) {
  if (written.files <= 1) return printable(written.path);
  std::string text = fmt::format("{} files up to {}", written.files, printable(written.path));
  if (written.files_removed > 0) text += fmt::format(", {} old files removed", written.files_removed);
  return text;
}

}  // namespace

ProgressLine::ProgressLine(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string_view preparation) {
  if (!wanted_) return;
  say("\r\x1b[K{} …", preparation);
  std::fflush(stderr);
  is_shown_ = true;
}

void ProgressLine::update(const RecordProgress& progress, std::uint64_t written) {
  if (!wanted_ || progress.seconds < shown_at_ + kEvery) return;
  const double seconds = progress.seconds - shown_at_;
  // The sum never decreases. Events alone may decrease, if events counted here are lost later.
  const std::uint64_t seen = progress.events + progress.lost;
  const double rate = static_cast<double>(seen - seen_) / seconds;
  RecorderCost cost;
  add_own_cost(cost);
  say("\r\x1b[K{:.1f} s  {} events  {}/s  {}  {} lost  buffers {:.0f}% at most  recorder {:.0f}% CPU, {}",
      progress.seconds, humane_count(progress.events), humane_count(static_cast<std::uint64_t>(rate)),
      humane_bytes(written), humane_count(progress.lost), progress.fullest_buffer * 100,
      100 * (cost.cpu_seconds - cpu_seconds_) / seconds, humane_bytes(cost.peak_bytes));
  std::fflush(stderr);
  is_shown_ = true;
  shown_at_ = progress.seconds;
  seen_ = seen;
  cpu_seconds_ = cost.cpu_seconds;
}

void ProgressLine::clear() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
  is_shown_ = false;
}

void say_left_open(const std::string& instance) {
  say("note: tracing in {} is off, but another process keeps it open, so it could not be removed. Remove it with: "
      "rmdir {}\n",
      instance, instance);
}

std::string missed_line(const std::string& function, std::uint64_t count, bool some_tasks) {
  if (function.empty() && count == 1)
    return fmt::format("1 of the lost events was missed by a BPF program, probably in an interrupt{}",
                       some_tasks ? ", and may belong to a task that is not recorded" : "");
  if (function.empty())
    return fmt::format("{} of the lost events were missed by BPF programs, most of them in interrupts{}",
                       humane_count(count),
                       some_tasks ? ". This number covers all tasks, including tasks that are not recorded" : "");
  if (count == 1)
    return fmt::format(
        "1 of the lost events is a start or end of {} that the kernel missed; it may belong to a task that is not "
        "recorded",
        printable(function));
  return fmt::format(
      "{} of the lost events are starts and ends of {} that the kernel missed; some may belong to tasks that are not "
      "recorded",
      humane_count(count), printable(function));
}

int command_exit_status(const RecordOutcome& outcome) {
  return outcome.end == RecordEnd::command_ended ? passed_on(outcome.command_status.value_or(0)) : 0;
}

void print_summary(const RecordOptions& options, const RecordOutcome& outcome, const WrittenTrace& written,
                   const char* remedy) {
  std::uint64_t ring_bytes = 0;
  BufferCounters sum;
  std::string lost_by_cpu;
  for (const RawCpu& cpu : outcome.recording.cpus) {
    const BufferCounters counters = parse_buffer_counters(cpu.statistics);
    sum += counters;
    ring_bytes += cpu.bytes;
    if (const std::uint64_t lost = counters.lost + counters.unread; lost > 0)
      lost_by_cpu += fmt::format("  cpu {}: {} lost\n", cpu.cpu, humane_count(lost));
  }
  const std::string latest = written.events ? fmt::format("the latest {} of ", humane_count(*written.events)) : "";
  const std::string where = written.path.empty() ? "" : describe_files(written) + ": ";
  say("{}{}{} events in {:.1f} s, {} ({} of ring buffer), clock {}\n", where, latest, humane_count(sum.read),
      outcome.seconds, humane_bytes(written.bytes), humane_bytes(ring_bytes), outcome.recording.kernel.clock);
  const RecorderCost& cost = outcome.cost;
  // The fill level of the ring buffers is read only from time to time. If events were lost, a buffer was fuller than it
  // was at any of these times.
  say("The recorder took {:.1f} s of CPU time and {} of memory; ring buffers of {} were {}{:.0f}% full at most\n",
      cost.cpu_seconds, humane_bytes(cost.peak_bytes), humane_bytes(cost.ring_buffer_bytes),
      sum.lost > 0 ? "seen to be " : "", cost.fullest_buffer * 100);
  if (!options.command.empty() && !outcome.command_started)
    say("{} was not started\n", printable(options.command.front()));
  else if (outcome.command_status)
    say("{}\n", describe_command_end(options.command.front(), *outcome.command_status));
  else if (!options.command.empty())
    say("{} is still running\n", printable(options.command.front()));
  if (outcome.missed_events > 0)
    lost_by_cpu += fmt::format("  on unknown CPUs: {} missed\n", humane_count(outcome.missed_events));
  const std::uint64_t lost = sum.lost + sum.unread + outcome.missed_events;
  if (!outcome.missed_calls_are_known)
    say("The number of calls missed by kprobe events is unknown, because the kernel's files contradict each other\n");
  if (lost == 0) return say("Nothing{} was lost\n", outcome.missed_calls_are_known ? "" : " else");
  say("{} {} lost:\n{}", humane_count(lost), lost == 1 ? "event was" : "events were", lost_by_cpu);
  const bool some_tasks = options.only_command || !options.pids.empty() || !options.cgroup.empty();
  for (const auto& [function, count] : outcome.missed_by_function)
    say("{}\n", missed_line(function, count, some_tasks));
  if (sum.lost + sum.unread > 0) say("To lose fewer events, use {}\n", remedy);
}

}  // namespace kmt
