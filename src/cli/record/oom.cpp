// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/oom.hpp"

#include <cerrno>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/program.hpp"
#include "cli/record/oom_page.hpp"
#include "cli/support/own_program.hpp"
#include "cli/support/result_file.hpp"
#include "cli/support/say.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/snapshots.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/log/oom_report.hpp"
#include "views/common/shell_word.hpp"

namespace kmt {

namespace {

constexpr const char* kOomScore = "/proc/self/oom_score_adj";

std::optional<OomReport> last_oom_report() {
  int error = 0;
  std::vector<OomReport> reports = oom_reports(running_kernel_log(error));
  if (reports.empty()) return std::nullopt;
  return std::move(reports.back());
}

// Returns the last report in the kernel's log. Nothing if it is the earlier report, or if the log has none.
std::optional<StateSample> oom_report_after(const std::string& earlier) {
  std::optional<OomReport> report = last_oom_report();
  // the log may have lost the first lines of the earlier report since then
  if (!report || earlier.ends_with(report->text)) return std::nullopt;
  derive_page_size(*report);
  correct_shifted_counters(*report);
  drop_damaged_totals(*report);
  return sample_of(*report);
}

void write_report_as_snapshot(const std::string& path, const StateSample& report, KernelDescription kernel) {
  kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
  kmt_format::SnapshotWriter file(path, kernel);
  file.add(report);
  file.finish();
}

// Runs a command of this program. Throws Error if it fails.
void run_own_command(std::vector<std::string> words) {
  const std::string name = words.at(1);
  const pid_t child = start_own_program(std::move(words));
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(fmt::format("kmemtrace {} failed", name));
}

// Writes a file. If that fails, prints a warning, because the trace is good without it. After an OOM kill, memory may
// still be short, so failed allocations are handled too.
void try_to_write(const std::string& path, const std::function<void()>& write) {
  try {
    write();
    say("Wrote {}\n", printable(path));
  } catch (const std::exception& error) {
    say("warning: cannot write {}: {}\n", printable(path), error.what());
  }
}

// Prints which files this build cannot write, and how to get their content.
void say_absent_files(const std::string& trace, bool has_profile) {
  std::vector<std::string> absent;
  std::vector<std::string> commands;
  if (!has_oom_page()) {
    absent.emplace_back("a page about the kill");
    commands.push_back("kmemtrace report " + shell_word(trace));
  }
  if (!has_profile) {
    absent.emplace_back("a profile");
    commands.push_back(fmt::format("kmemtrace export {} --to pprof", shell_word(trace)));
  }
  if (absent.empty()) return;
  say("note: this build cannot write {}. Run this with the full kmemtrace: {}\n", fmt::join(absent, " or "),
      printable(fmt::format("{}", fmt::join(commands, "; "))));
}

void describe_kill(const std::string& trace, const std::string& earlier_report) {
  const std::string stem = trace.ends_with(".kmt") ? trace.substr(0, trace.size() - 4) : trace;
  const KernelDescription kernel = describe_running_kernel();
  const std::optional<StateSample> report = oom_report_after(earlier_report);
  std::optional<SnapshotResult> memory;
  if (report) {
    memory = snapshot_of(*report, kernel);
    if (memory->memory.oom) say("The victim was {}\n", victim_of_kill(*memory->memory.oom));
    const std::string snapshot = stem + ".oom.kmt";
    try_to_write(snapshot, [&] { write_report_as_snapshot(snapshot, *report, kernel); });
  } else {
    say("warning: the kernel's log has no report of this kill, or cannot be read\n");
  }
  const std::string page = stem + ".html";
  if (has_oom_page())
    try_to_write(page, [&] {
      ResultFile file(page, {trace});
      file.write(page_of_kill(trace, memory ? &*memory : nullptr));
      file.finish();
    });
  const std::string profile = stem + ".pb.gz";
  const bool has_profile = has_command("export");
  if (has_profile)
    try_to_write(profile, [&] {
      run_own_command({"kmemtrace", "export", trace, "--to", "pprof", "--output", profile});
    });
  say_absent_files(trace, has_profile);
}

}  // namespace

std::string victim_of_kill(const OomKill& kill) {
  std::string text =
      fmt::format("{} (pid {})", kill.victim.empty() ? "a process" : printable(kill.victim), kill.victim_pid);
  if (!kill.invoked_by.empty()) text += fmt::format(", when {} needed memory", printable(kill.invoked_by));
  if (kill.cgroup) text += ", because a cgroup had reached its limit";
  return text;
}

OomProtection::OomProtection() {
  try {
    std::string before = read_file(kOomScore);
    write_file(kOomScore, "-1000");
    before_ = std::move(before);
  } catch (const Error& error) {
    const bool denied = error.exit_code() == ExitCode::unsupported;
    say("note: kmemtrace cannot protect itself from the OOM killer: {}: {}{}\n", kOomScore, error.what(),
        denied ? "; the process needs CAP_SYS_RESOURCE" : "");
  }
}

OomProtection::~OomProtection() {
  if (before_.empty()) return;
  try {
    write_file(kOomScore, before_);
  } catch (const std::exception& error) {
    say("warning: kmemtrace stays protected from the OOM killer until it ends: {}\n", error.what());
  }
}

std::string text_of_last_oom_report() {
  std::optional<OomReport> report = last_oom_report();
  return report ? std::move(report->text) : std::string();
}

void write_oom_files(const std::string& trace, const std::string& earlier_report) {
  try {
    describe_kill(trace, earlier_report);
  } catch (const std::exception& error) {
    say("warning: cannot describe the kill: {}\n", error.what());
  }
}

}  // namespace kmt
