// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/features/call_tracing.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/features/events.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/tracefs/mount.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

constexpr double kStates = 60;  // minimum number of times that the kernel's counters are read
constexpr double kMostStates = 400;
constexpr double kLongestState = 2;  // in seconds; the maximum interval in short runs
constexpr double kFirstState = 0.5;
// Early in a run, the interval is the time since the start divided by this number. So the run soon has twice as many
// states as a verdict needs.
constexpr double kStatesUntilNow = 32;

double state_interval(double seconds) {
  const double interval = std::clamp(seconds / kStates, 0.1, kLongestState);
  return std::max(interval, seconds / kMostStates);
}

unsigned cpus_online() { return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

bool is_refusal(int error_number) { return error_number == EACCES || error_number == EPERM; }

// Returns advice for the case that this process has no permission for a feature.
std::string permission_advice() {
  if (is_in_user_namespace()) return "run it as root on the host, outside this user namespace";
  return ::geteuid() == 0 ? "" : "run it as root";
}

std::string way_out_without_tracefs(const TracefsMount& mount) {
  const bool is_refused =
      mount.path.empty() ? mount.is_refused : !may_access(mount.path + "/instances", W_OK | X_OK) && is_refusal(errno);
  return is_refused ? permission_advice() : "`kmemtrace list` shows what is missing";
}

// Returns as much of `wanted` as can be recorded with the CPU time, starting with the fastest growth. A part that is
// too expensive is skipped, and later parts may still fit.
Narrowing as_much_of(const Narrowing& wanted, double cpu_seconds,
                     const std::function<double(const Narrowing&)>& needed) {
  Narrowing taken;
  const auto take = [&](auto Narrowing::*kind) {
    for (const auto& one : wanted.*kind) {
      Narrowing more = taken;
      (more.*kind).push_back(one);
      if (needed(more) <= cpu_seconds) taken = std::move(more);
    }
  };
  take(&Narrowing::caches);
  take(&Narrowing::sizes);
  take(&Narrowing::object_sizes);
  take(&Narrowing::orders);
  return taken;
}

}  // namespace

double next_state_after(double seconds, const InvestigationPlan& plan) {
  return std::min(plan.state_interval, std::max(kFirstState, seconds / kStatesUntilNow));
}

double cpu_of_states(double from_seconds, const InvestigationPlan& plan) {
  double sum = 0;
  for (double at = from_seconds; at < plan.seconds; at += next_state_after(at, plan)) sum += kSecondsOfAState;
  return sum;
}

double seconds_of_an_event(bool stacks) {
  return stacks ? (kSecondsOfAnEvent + kSecondsOfAStack) / 2 : kSecondsOfAnEvent;
}

double cpu_left(const CpuUse& use, const InvestigationPlan& plan) {
  // assumed time in seconds until events are counted again; usually this is 0.25 s, but longer on a busy machine
  constexpr double kLooked = 0.5;
  double left = plan.most_cpu_seconds - use.cpu_seconds - kSecondsAtTheEnd - plan.reserved_cpu_seconds -
                cpu_of_states(use.seconds, plan) - static_cast<double>(use.events) * kSecondsOfAnalysing;
  if (use.is_recording)
    left -= kSecondsToEndRecording +
            kLooked * use.events_per_s * (seconds_of_an_event(use.stacks) + kSecondsOfReading + kSecondsOfAnalysing);
  return left;
}

bool is_part_of_samples_spent(const CpuUse& use, const InvestigationPlan& plan) {
  // reserved for the recording, as a fraction of the CPU budget minus the fixed costs
  constexpr double kPartForRecording = 0.6;
  return plan.samples && plan.trace && use.seconds >= kThresholds.shortest_watch &&
         cpu_left(use, plan) < kPartForRecording * (plan.most_cpu_seconds - plan.least_cpu_seconds);
}

bool can_sample_pages(double programs_per_s, double cpu_left, const InvestigationPlan& plan) {
  return programs_per_s * std::min(plan.seconds / 2, 2 * kThresholds.shortest_watch) <= cpu_left;
}

RecordingChoice choose_recording(const Narrowing& wanted, double cpu_seconds, double without_samples,
                                 const std::function<double(const Narrowing&)>& needed) {
  RecordingChoice choice;
  choice.rest = wanted;
  std::erase(choice.rest.orders, 0u);
  for (const bool ends_samples : {false, true}) {
    const double most = ends_samples ? without_samples : cpu_seconds;
    choice.of = needed(choice.rest) <= most ? choice.rest : as_much_of(choice.rest, most, needed);
    choice.ends_samples = ends_samples && !choice.of.empty();
    if (!choice.of.empty()) break;
  }
  return choice;
}

double whole_seconds_of_an_event(bool stacks) {
  return (stacks ? 2 : 1) * (seconds_of_an_event(stacks) + kSecondsOfReading + kSecondsOfAnalysing);
}

// Returns the CPU time that an investigation may use. It is at least 1 % of two CPUs for two minutes, because a short
// run needs as many samples as a long one.
double most_cpu_seconds(const LiveInvestigation& request) {
  return std::max(request.cpu_share * request.seconds * cpus_online(), 3 * kFixedSeconds);
}

std::optional<UnseenSource> unseen_slabinfo(const std::string& path) {
  if (may_access(path, R_OK)) return std::nullopt;
  const int number = errno;
  UnseenSource unseen{"the kernel's counters of slab caches",
                      fmt::format("{} cannot be read: {}", path, std::generic_category().message(number)),
                      {}};
  if (number == ENOENT) unseen.how = "use a kernel with CONFIG_SLUB_DEBUG";
  if (is_refusal(number)) unseen.how = permission_advice();
  return unseen;
}

InvestigationPlan plan_investigation(const LiveInvestigation& request) {
  InvestigationPlan plan;
  plan.seconds = request.seconds;
  plan.states.assign(kMemoryStateFiles.begin(), kMemoryStateFiles.end());
  plan.states.emplace_back("zoneinfo");
  std::erase_if(plan.states, [](const std::string& name) { return !may_access(fmt::format("/proc/{}", name), R_OK); });
  plan.state_interval = state_interval(request.seconds);
  plan.cpu_share = request.cpu_share;
  plan.cpus = cpus_online();
  plan.most_cpu_seconds = most_cpu_seconds(request);
  const BpfSupport bpf = bpf_support();
  plan.samples = bpf.missing.empty();
  if (!plan.samples) plan.unseen.push_back({"samples of all slab allocations", bpf.missing, bpf.way_out});
  // Tries to mount tracefs, so that the plan says whether tracefs is really available.
  const TracefsMount mount = mount_tracefs_privately();
  const std::string no_trace = mount.path.empty() ? mount.reason : probe_capabilities(mount).why_not();
  plan.trace = no_trace.empty();
  if (!plan.trace) plan.unseen.push_back({"exact recordings", no_trace, way_out_without_tracefs(mount)});
  plan.calls = !mount.path.empty() && why_no_functions(mount.path).empty();
  plan.trace_stacks = plan.trace && !plan.samples;
  if (auto slabinfo = unseen_slabinfo()) plan.unseen.push_back(std::move(*slabinfo));
  if (!plan.samples && !plan.trace)
    plan.unseen.push_back({"the allocating code", "neither BPF programs nor trace events can be used here",
                           "`kmemtrace list` shows what is missing"});
  plan.least_cpu_seconds =
      kSecondsAtTheEnd + cpu_of_states(0, plan) + (plan.samples ? kFixedSeconds - kSecondsAtTheEnd : 0);
  plan.kernel_bytes = (plan.samples ? 10u << 20 : 0) + (plan.trace ? kMostTraceBuffer : 0);
  return plan;
}

}  // namespace kmt
