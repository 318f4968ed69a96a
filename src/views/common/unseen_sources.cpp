// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/unseen_sources.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kmt {

std::vector<UnseenSource> unseen_of(const HeapLosses& losses, std::uint64_t not_kept) {
  const struct {
    std::uint64_t count;
    const char* what;
    const char* why;
  } kinds[] = {
      {losses.samples, "samples", "the ring buffer was full: growth may be larger than shown"},
      {losses.unfollowed, "samples", "too many samples were live to follow all of them: these samples do not count"},
      {losses.ends, "times at which samples were freed",
       "the ring buffer was full: these samples counted as live until the missed free was noticed"},
      {losses.no_stack, "stacks of samples", "the kernel had no room for them: only the call sites are known"},
      {losses.missed, "allocations", "skipped as nested events on the same CPU"},
      {losses.missed_frees, "frees", "skipped as nested events on the same CPU: freed objects may look live"},
      {not_kept, "samples", "there were too many stacks or processes to keep: these samples do not count"},
  };
  std::vector<UnseenSource> unseen;
  for (const auto& [count, what, why] : kinds)
    if (count > 0) unseen.push_back({fmt::format("{} {}", count, what), why, ""});
  return unseen;
}

std::optional<UnseenSource> unknown_cgroups(const InvestigationResult& result) {
  std::vector<FindingProcess> processes;
  for (const GrowthFinding& finding : result.judgement.findings)
    processes.insert(processes.end(), finding.processes.begin(), finding.processes.end());
  const auto has_none = [](const FindingProcess& process) { return process.process != 0 && process.cgroup.empty(); };
  if (processes.empty()) return std::nullopt;
  if (std::ranges::all_of(processes, has_none))
    return UnseenSource{"cgroups of processes", "neither the samples nor the recording name cgroups",
                        "samples name them, and so does `kmemtrace record` on a kernel with version 2 cgroups"};
  // This warning is only for a trace of another machine. On the running machine, the investigation knows whether cgroup
  // version 1 accounts memory.
  const auto is_in_root = [](const FindingProcess& process) { return process.process == 0 || process.cgroup == "/"; };
  const bool is_any = std::ranges::any_of(processes, [](const FindingProcess& one) { return one.process != 0; });
  if (result.watched || !is_any || !std::ranges::all_of(processes, is_in_root)) return std::nullopt;
  return UnseenSource{"cgroups of processes",
                      "the recording shows all processes in the root cgroup, as in a container or on a system where "
                      "cgroup version 1 accounts memory",
                      "`kmemtrace investigate` on that machine also shows version 1 cgroups"};
}

}  // namespace kmt
