// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/counting_backend.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/bpf/watch/event_counters.hpp"
#include "capture/counting/hist_counters.hpp"
#include "capture/counting/hist_instance.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/record/run.hpp"
#include "cli/support/say.hpp"
#include "cli/watch/ring_counters.hpp"

namespace kmt {

namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kBpf = "bpf";
constexpr const char* kHist = "hist";
constexpr const char* kRingBuffer = "ring-buffer";

// Returns tracefs, without the instances that killed runs have left.
std::string own_tracefs() {
  std::string tracefs = usable_tracefs();
  offer_to_remove_stale(tracefs, false);
  return tracefs;
}

std::string tracefs_for_hist(const BpfSelection& selection) {
  std::string tracefs = own_tracefs();
  if (const std::string reason = why_no_hist_triggers(tracefs); !reason.empty())
    throw Error(fmt::format("Hist triggers cannot be used here: {}", reason), ExitCode::unsupported)
        .hint("--backend ring-buffer works on every kernel with trace events");
  if (!selection.cgroup.empty())
    throw Error("Hist triggers cannot select a cgroup", ExitCode::unsupported).hint("Use --backend ring-buffer");
  return tracefs;
}

template <typename Counting>
using Opener = std::function<std::unique_ptr<Counting>()>;

template <typename Counting>
OpenedCounting<Counting> open_first(const std::string& wanted,
                                    const std::vector<std::pair<const char*, Opener<Counting>>>& openers) {
  std::optional<Error> refusal;  // why BPF programs cannot be used
  for (const auto& [name, open] : openers) {
    if (wanted != kAuto && wanted != name) continue;
    try {
      OpenedCounting<Counting> opened{name, open()};
      if (refusal) say("note: {}. --backend {} is used instead\n", refusal->what(), name);
      return opened;
    } catch (const Error& error) {
      if (wanted != kAuto || error.exit_code() != ExitCode::unsupported) throw;
      if (!refusal) refusal = error;
    }
  }
  throw Error(*refusal);
}

}  // namespace

void add_counting_backend_option(Command& command, std::string& backend) {
  command.option(
      "--backend", &backend, "BACKEND",
      "Count with BACKEND: bpf, hist, ring-buffer or auto (default)\nauto uses the first of these that works "
      "here. bpf counts with BPF programs, at the lowest cost. hist counts with hist triggers of ftrace "
      "(CONFIG_HIST_TRIGGERS), which need neither BPF nor BTF. ring-buffer reads every event, which costs "
      "most, and may lose events.",
      {.words = {kAuto, kBpf, kHist, kRingBuffer}});
}

OpenedCounting<EventCounting> open_event_counting(const std::string& backend, const BpfSelection& selection,
                                                  bool probes) {
  return open_first<EventCounting>(
      backend,
      {{kBpf, [&] { return std::make_unique<EventCounters>(selection, probes); }},
       {kHist, [&] { return count_by_hist(tracefs_for_hist(selection), counted_events(), selection.processes); }},
       {kRingBuffer, [&] { return count_by_ring(own_tracefs(), selection); }}});
}

OpenedCounting<SiteCounting> open_site_counting(const std::string& backend, const HeapRequest& request,
                                                const HeapHooks& hooks) {
  const BpfSelection& selection = request.selection;
  const bool only_kernel_pages = request.no_movable_pages;
  return open_first<SiteCounting>(
      backend,
      {{kBpf, [&] { return std::make_unique<HeapWatcher>(request, hooks); }},
       {kHist,
        [&] { return count_sites_by_hist(tracefs_for_hist(selection), selection.processes, only_kernel_pages); }},
       {kRingBuffer, [&] { return count_sites_by_ring(own_tracefs(), selection, only_kernel_pages); }}});
}

}  // namespace kmt
