// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/most_live.hpp"

#include <algorithm>
#include <map>

#include "analysis/matching/slab_account.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

bool is_reclaimable(const Origin& origin, const MostLiveSources& from) {
  if (origin.account == SlabAccount::reclaimable) return true;
  const std::string site = name_of_site(origin.call_site, from.info, from.symbols);
  if (!origin.from_cache) return is_shrinkable_site(site);
  return is_shrinkable(from.info.tables.cache_names[origin.cache], std::string(function_of(site)));
}

// Returns the live memory, excluding reclaimable memory and memory of tracing tools.
std::vector<LiveCount> memory_to_name(const MostLiveSources& from) {
  std::vector<LiveCount> live = from.live;
  for (std::size_t number = 1; number < live.size(); ++number) {
    const Origin& origin = from.origins[number];
    if (live[number].bytes > 0 && (is_reclaimable(origin, from) || from.grouping.is_of_tracing_tool(origin)))
      live[number] = {};
  }
  return live;
}

}  // namespace

std::optional<MostLive> most_live(const MostLiveSources& sources, std::uint32_t& group) {
  const std::vector<LiveCount> live = memory_to_name(sources);
  std::vector<LiveCount> of_group(sources.maybe_freed.size());
  for (std::size_t number = 1; number < live.size(); ++number) of_group[sources.origins[number].group] += live[number];
  const auto most = std::ranges::max_element(of_group, {}, &LiveCount::bytes);
  if (most == of_group.end() || most->bytes == 0) return std::nullopt;
  group = static_cast<std::uint32_t>(most - of_group.begin());

  struct Part {
    LiveCount live;
    const Origin* origin = nullptr;  // any origin of the process
  };
  std::map<std::uint32_t, Part> processes;
  for (std::size_t number = 1; number < live.size(); ++number) {
    const Origin& origin = sources.origins[number];
    if (origin.group != group || origin.process == 0 || live[number].bytes == 0) continue;
    // A negative ID is an unknown task, as in relay files, which do not store tasks.
    if (sources.grouping.process_name(origin).id.value_or(0) < 0) continue;
    Part& part = processes[origin.process];
    part.live += live[number];
    part.origin = &origin;
  }
  MostLive result;
  result.live = *most;
  result.is_upper_bound = sources.maybe_freed[group].allocations > 0;
  result.processes = processes.size();
  if (processes.empty()) return result;
  const auto first =
      std::ranges::max_element(processes, {}, [](const auto& process) { return process.second.live.bytes; });
  result.process = sources.grouping.process_name(*first->second.origin);
  result.of_process = first->second.live;
  return result;
}

}  // namespace kmt
