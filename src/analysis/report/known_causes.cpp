// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/known_causes.hpp"

#include <algorithm>
#include <string>

#include "analysis/matching/grouping.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/untraced_paths.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

std::vector<std::string_view> probed_functions(const TraceInfo& info) {
  std::vector<std::string_view> functions;
  for (const FunctionProbe& probe : function_probes()) {
    const auto is_of_probe = [&](const EventType& type) {
      return type.system == "kmemtrace" && type.name == probe.event;
    };
    if (std::ranges::any_of(info.tables.event_types, is_of_probe)) functions.push_back(probe.function);
  }
  return functions;
}

KnownCauses::KnownCauses(const TraceInfo& info, const SymbolNames& symbols)
    : info_(info),
      symbols_(symbols),
      version_(version_of(info.machine.kernel)),
      probed_(probed_functions(info)),
      leaves_out_recorder_(!ids_in_note(info.recording.notes, "recorder_tasks").empty()) {}

bool KnownCauses::may_free(std::uint32_t cache, CallSiteId call_site) {
  const auto [known, is_new] = frees_.try_emplace({cache, call_site.value}, false);
  if (!is_new) return known->second;
  const std::string site = name_of_site(call_site, info_, symbols_);
  known->second =
      untraced_free_of(info_.tables.cache_names[cache], std::string(function_of(site)), version_, probed_) != nullptr;
  return known->second;
}

bool KnownCauses::may_have_allocated(std::uint32_t cache, CallSiteId free_site) {
  const auto [known, is_new] = allocations_.try_emplace({cache, free_site.value}, false);
  if (!is_new) return known->second;
  known->second = allocates_untraced(info_.tables.cache_names[cache], version_, probed_);
  const std::uint64_t address = info_.tables.call_sites[free_site.value];
  if (known->second || !leaves_out_recorder_ || address == 0) return known->second;
  const std::string site = symbols_.name(address);
  known->second = function_of(site) == "rcu_do_batch";
  return known->second;
}

}  // namespace kmt
