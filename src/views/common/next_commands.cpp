// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/next_commands.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "results/series/thresholds.hpp"
#include "views/common/shell_word.hpp"

namespace kmt {

namespace {

// Returns a shell command that shows which kernel objects hold the memory of a finding: keys, System V IPC objects,
// cgroups, BPF maps, child processes, inotify watches, mappings, or open files. Empty if the command needs a running
// process and all processes have ended.
std::string what_is_held(const GrowthFinding& finding) {
  const auto running = std::ranges::find_if(
      finding.processes, [](const FindingProcess& process) { return process.process != 0 && !process.ended; });
  const auto enters = [&](std::string_view call) { return finding.entry.find(call) != std::string::npos; };
  if (!finding.caches.empty() && finding.caches.front().name == kPageTables)
    return running == finding.processes.end() ? ""
                                              : fmt::format("grep -E 'VmPTE|VmRSS' /proc/{}/status", running->process);
  if (enters("sys_add_key") || enters("sys_request_key") || enters("sys_keyctl")) return "cat /proc/keys";
  for (const char* const call : {"mount", "fsconfig", "fsopen"})
    if (enters(call)) return "tail /proc/mounts";
  for (const char* const kind : {"msg", "sem", "shm"}) {
    if (!enters(fmt::format("sys_{}", kind))) continue;
    if (running == finding.processes.end()) return fmt::format("cat /proc/sysvipc/{}", kind);
    return fmt::format("nsenter -t {} -i cat /proc/sysvipc/{}", running->process, kind);
  }
  if (finding.function.starts_with("cgroup_mkdir")) return "cat /proc/cgroups";
  if (running == finding.processes.end()) return {};
  for (const char* const call : {"sys_clone", "sys_fork", "sys_vfork"})
    if (enters(call)) return fmt::format("ps -L -p {0} --ppid {0} -o pid,lwp,stat,comm | tail", running->process);
  if (enters("sys_inotify_add_watch"))
    return fmt::format("grep -rc ^inotify /proc/{}/fdinfo | grep -v :0$", running->process);
  if (enters("sys_bpf")) return fmt::format("grep -r memlock /proc/{}/fdinfo", running->process);
  for (const char* const call : {"sys_mmap", "sys_mprotect", "sys_mremap", "sys_brk"})
    if (enters(call)) return fmt::format("tail /proc/{}/maps", running->process);
  return fmt::format("ls -l /proc/{}/fd | tail", running->process);
}

// True if `leaks` on the trace confirms a finding, or if the user gave the trace. The short recording of `investigate`
// does not confirm growth by itself.
bool trace_shows_growth(const InvestigationResult& result) {
  return !result.watched || std::ranges::any_of(result.judgement.findings, [](const GrowthFinding& finding) {
    return finding.exact && finding.certainty == Certainty::sure;
  });
}

// Adds commands that collect more evidence.
void add_watches(const InvestigationResult& result, std::vector<std::string>& commands) {
  const Judgement& judgement = result.judgement;
  if (!result.all_permitted) commands.emplace_back(result.by_root ? "kmemtrace list" : "sudo kmemtrace investigate");
  if (!result.by_root && !result.all_permitted) return;
  const std::string sudo = result.by_root ? "" : "sudo ";
  // true: sampling or recording ended early, because the CPU budget was used up
  const bool ended_early = result.complete && result.conclusion.coverage.by_allocations &&
                           result.conclusion.coverage.share() < kThresholds.ended_early;
  if ((result.conclusion.verdict == GrowthVerdict::grows || ended_early) && judgement.seen_seconds > 0)
    commands.push_back(sudo + "kmemtrace investigate --cpu 20");  // a larger CPU budget allows more sources
  if (judgement.saw_allocations || judgement.saw_caches || !result.complete)
    commands.push_back(
        fmt::format("{}kmemtrace investigate --for {:.0f}m", sudo, std::max(result.seconds / 60 * 5, 5.0)));
}

}  // namespace

std::vector<std::string> next_commands(const InvestigationResult& result) {
  const bool is_live = result.cost.has_value();  // false: the processes may have ended or may be on another machine
  const auto has_file = [&result](const char* name) {
    return !result.folder.empty() &&
           std::ranges::find(result.files, name, &InvestigationFile::name) != result.files.end();
  };
  // Returns the path of a file in the evidence folder. If the folder does not have the file, returns `copied`, which is
  // the path that the user gave as an option.
  const auto file = [&](const char* name, const std::string& copied) {
    return has_file(name) ? shell_word(result.folder + "/" + name) : copied.empty() ? "" : shell_word(copied);
  };
  const std::string sudo = result.by_root ? "" : "sudo ";
  std::vector<std::string> commands;
  const auto add = [&commands](std::string command) {
    if (std::ranges::find(commands, command) == commands.end()) commands.push_back(std::move(command));
  };
  for (const GrowthFinding& finding : result.judgement.findings) {
    if (finding.certainty == Certainty::weak || commands.size() >= 4) continue;
    if (const std::string shows = what_is_held(finding); is_live && !shows.empty()) add(sudo + shows);
    if (is_live && !result.no_calls && is_plain(finding.function, "_."))
      add(fmt::format("{}kmemtrace graph {} -a -d 5s", sudo, finding.function));
  }
  if (is_live && !result.no_objects && !result.large_caches.empty()) {
    std::string names;
    for (const LargeCache& cache : result.large_caches)
      if (is_plain(cache.name, "_.-:")) names += (names.empty() ? "" : ",") + cache.name;
    if (!names.empty()) add(fmt::format("{}kmemtrace snapshot --objects {}", sudo, names));
  }
  if (is_live && (!result.judgement.found() || result.conclusion.unexplained)) add_watches(result, commands);
  if (const std::string trace = file("trace.kmt", result.copies.trace); !trace.empty() && trace_shows_growth(result))
    commands.push_back("kmemtrace leaks " + trace);
  const std::string before = file("before.kmt", result.copies.before);
  const std::string after = file("after.kmt", result.copies.after);
  if (!before.empty() && !after.empty()) commands.push_back(fmt::format("kmemtrace diff {} {}", before, after));
  return commands;
}

}  // namespace kmt
