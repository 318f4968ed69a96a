// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/oom.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/record/oom_page.hpp"
#include "cli/support/own_program.hpp"
#include "cli/support/result_file.hpp"
#include "cli/support/say.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/snapshots.hpp"
#include "snapshot/log/oom_report.hpp"

namespace kmt {

namespace {

// Returns the kernel's log. Empty if it cannot be read.
std::string running_kernel_log() {
  constexpr int kSizeOfBuffer = 10;  // SYSLOG_ACTION_SIZE_BUFFER
  constexpr int kReadAll = 3;        // SYSLOG_ACTION_READ_ALL
  const int size = ::klogctl(kSizeOfBuffer, nullptr, 0);
  if (size <= 0) return {};
  std::string log(static_cast<std::size_t>(size), '\0');
  const int got = ::klogctl(kReadAll, log.data(), size);
  log.resize(static_cast<std::size_t>(std::max(got, 0)));
  return log;
}

// Returns the last report in the kernel's log. Nothing if the log has none.
std::optional<StateSample> last_oom_report() {
  std::vector<OomReport> reports = oom_reports(running_kernel_log());
  if (reports.empty()) return std::nullopt;
  OomReport& report = reports.back();
  derive_page_size(report);
  correct_shifted_counters(report);
  drop_damaged_totals(report);
  return sample_of(report);
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
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw Error(fmt::format("kmemtrace {} failed", name));
}

}  // namespace

std::string victim_of_kill(const OomKill& kill) {
  std::string text =
      fmt::format("{} (pid {})", kill.victim.empty() ? "a process" : printable(kill.victim), kill.victim_pid);
  if (!kill.invoked_by.empty()) text += fmt::format(", when {} needed memory", printable(kill.invoked_by));
  if (kill.cgroup) text += ", because a cgroup had reached its limit";
  return text;
}

void avoid_oom_killer() {
  try {
    write_file("/proc/self/oom_score_adj", "-1000");
  } catch (const Error&) {
    say("note: kmemtrace cannot protect itself from the OOM killer (/proc/self/oom_score_adj)\n");
  }
}

void write_oom_files(const std::string& trace) {
  const std::string stem = trace.ends_with(".kmt") ? trace.substr(0, trace.size() - 4) : trace;
  const auto try_to_write = [](const std::string& path, const auto& write) {
    try {
      write(path);
      say("Wrote {}\n", printable(path));
    } catch (const Error& error) {
      say("warning: cannot write {}: {}\n", printable(path), error.what());
    }
  };
  const KernelDescription kernel = describe_running_kernel();
  const std::optional<StateSample> report = last_oom_report();
  std::optional<SnapshotResult> memory;
  if (report) {
    memory = snapshot_of(*report, kernel);
    if (memory->memory.oom) say("The victim was {}\n", victim_of_kill(*memory->memory.oom));
    try_to_write(stem + ".oom.kmt", [&](const std::string& path) { write_report_as_snapshot(path, *report, kernel); });
  } else {
    say("warning: the kernel's log has no report of the kill, or cannot be read\n");
  }
  try_to_write(stem + ".html", [&](const std::string& path) {
    ResultFile file(path, {trace});
    file.write(page_of_kill(trace, memory ? &*memory : nullptr));
    file.finish();
  });
  try_to_write(stem + ".pb.gz", [&](const std::string& path) {
    run_own_command({"kmemtrace", "export", trace, "--to", "pprof", "--output", path});
  });
}

}  // namespace kmt
