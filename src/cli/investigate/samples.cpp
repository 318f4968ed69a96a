// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/samples.hpp"

#include <chrono>

#include <unistd.h>

#include "analysis/growth/traces.hpp"
#include "base/clock.hpp"
#include "capture/sideband/process_facts.hpp"

namespace kmt {

namespace {

HeapRequest request_of(std::uint64_t mean_bytes, bool pages) {
  HeapRequest request;
  request.pages = request.no_movable_pages = pages;
  request.names_threads = true;
  request.mean_bytes = mean_bytes;
  return request;
}

std::uint64_t unix_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

std::optional<MemoryCgroups> memory_cgroups_of(const GrowthSeen& seen) {
  if (memory_cgroup_of(static_cast<std::uint32_t>(::getpid())).empty()) return std::nullopt;
  MemoryCgroups cgroups;
  for (const GrowthGroup& group : seen.groups)
    if (group.process != 0) {
      const auto [of, is_new] = cgroups.try_emplace(group.process);
      if (is_new) of->second = memory_cgroup_of(group.process);
    }
  // The cgroup of a process is unknown only if the process has ended.
  std::erase_if(cgroups, [](const auto& of) { return of.second.empty(); });
  return cgroups;
}

InvestigationSamples::InvestigationSamples(std::uint64_t mean_bytes, bool pages, LiveKernel& kernel, double seconds)
    : mean_bytes_(mean_bytes),
      pages_(pages),
      begin_ns_(monotonic_ns()),
      begin_unix_ns_(unix_ns()),
      growth_(mean_bytes, pages, kernel.symbols(), begin_ns_, seconds, static_cast<std::uint32_t>(::getpid()),
              page_bytes()),
      profile_(mean_bytes, kernel.symbols(), [&kernel](std::uint64_t id) { return kernel.cgroup_name(id); }),
      kernel_(kernel),
      watcher_(request_of(mean_bytes, pages), {[this](const HeapSample& sample) {
                                                 growth_.add(sample);
                                                 profile_.add(sample);
                                               },
                                               [this](const HeapSampleEnd& end) {
                                                 growth_.end(end);
                                                 profile_.end(end);
                                               }}) {
  begin_ns_ = monotonic_ns();  // loading the BPF programs may have taken seconds
  growth_.begin(begin_ns_);
}

GrowthSeen InvestigationSamples::seen() {
  watcher_.drain();
  if (watcher_.losses().ends > 0)
    growth_.reconcile([this](std::uint64_t pointer) { return watcher_.is_followed(pointer); });
  GrowthSeen seen =
      growth_.seen(monotonic_ns(), LiveKernel::release(), [this](std::uint64_t id) { return kernel_.cgroup_name(id); });
  name_processes([](std::uint32_t process) { return name_of_process(process); }, seen);
  if (const auto cgroups = memory_cgroups_of(seen)) name_memory_cgroups(*cgroups, seen);
  return seen;
}

HeapProfileForms InvestigationSamples::forms() {
  if (watcher_.losses().ends > 0)
    profile_.reconcile([this](std::uint64_t pointer) { return watcher_.is_followed(pointer); });
  HeapProfileForms forms{profile_.result({HeapKey::stack}), profile_.drawn()};
  HeapProfileFacts& facts = forms.result;
  facts.kernel = LiveKernel::release();
  if (pages_) facts.selection = "the whole machine, without movable pages";
  facts.start_unix_ns = begin_unix_ns_;
  facts.duration_ns = monotonic_ns() - begin_ns_;
  facts.losses = watcher_.losses();
  facts.memory = watcher_.memory();
  facts.own_cpu_ns = own_cpu_ns();
  static_cast<HeapProfileFacts&>(forms.drawn) = facts;
  forms.drawn.mean_bytes = mean_bytes_;
  forms.result.has_pages = forms.drawn.has_pages = pages_;
  return forms;
}

}  // namespace kmt
