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
      {losses.samples, "samples", "the ring buffer was full: what grows may be more"},
      {losses.unfollowed, "ends of samples", "too many were live to follow them all: these samples do not count"},
      {losses.ends, "times of ends of samples", "the ring buffer was full: they count as live until they were missed"},
      {losses.no_stack, "stacks of samples", "the kernel had no room for them: their call site alone is known"},
      {losses.missed, "allocations", "skipped, as nested events on the same CPU"},
      {losses.missed_frees, "frees", "skipped, as nested events on the same CPU: what they freed may look live"},
      {not_kept, "samples", "too many stacks or processes to keep: these samples do not count"},
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
    return UnseenSource{"cgroups of processes", "neither samples nor the recording name any",
                        "samples do, and `kmemtrace record` where the kernel has cgroups of version 2"};
  // The watcher knew whether cgroup version 1 accounts memory there.
  const auto is_in_root = [](const FindingProcess& process) { return process.process == 0 || process.cgroup == "/"; };
  const bool is_any = std::ranges::any_of(processes, [](const FindingProcess& one) { return one.process != 0; });
  if (result.watched || !is_any || !std::ranges::all_of(processes, is_in_root)) return std::nullopt;
  return UnseenSource{"cgroups of processes",
                      "the recording has all of them in the root, as it has inside a container, and where version 1 "
                      "accounts memory",
                      "`kmemtrace investigate` on that machine shows those of version 1 too"};
}

}  // namespace kmt
