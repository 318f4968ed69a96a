// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate_plan.hpp"

#include <algorithm>

#include <unistd.h>

#include "capture/features/bpf_support.hpp"
#include "capture/features/call_tracing.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

constexpr double kStates = 60;  // samples of the kernel's account, at least
constexpr double kMostStates = 400;
constexpr double kLongestState = 2;  // seconds, in short watches: so that Ctrl+C leaves enough of them

double state_interval(double seconds) {
  const double interval = std::clamp(seconds / kStates, 0.1, kLongestState);
  return std::max(interval, seconds / kMostStates);
}

unsigned cpus_online() { return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

}  // namespace

// As much as two minutes of one percent of two CPUs: shorter runs have to see as much growth.
double most_cpu_seconds(const LiveInvestigation& request) {
  return std::max(request.cpu_share * request.seconds * cpus_online(), 3 * kFixedSeconds);
}

InvestigationPlan plan_investigation(const LiveInvestigation& request) {
  InvestigationPlan plan;
  plan.seconds = request.seconds;
  plan.state_interval = state_interval(request.seconds);
  plan.cpu_share = request.cpu_share;
  plan.cpus = cpus_online();
  plan.most_cpu_seconds = most_cpu_seconds(request);
  const BpfSupport bpf = bpf_support();
  plan.samples = bpf.missing.empty();
  if (!plan.samples) plan.unseen.push_back({"samples of all slab allocations", bpf.missing, bpf.way_out});
  const TracefsMount mount = find_tracefs();
  plan.trace = mount.path.empty() ? mount.mountable : probe_capabilities(mount).can_record();
  if (!plan.trace)
    plan.unseen.push_back(
        {"exact recordings", mount.path.empty() ? mount.reason : probe_capabilities(mount).why_not(), ""});
  plan.calls = !mount.path.empty() && why_no_functions(mount.path).empty();
  plan.trace_stacks = plan.trace && !plan.samples;
  if (::access("/proc/slabinfo", R_OK) != 0)
    plan.unseen.push_back({"the kernel's account of slab caches", "/proc/slabinfo cannot be read", "run it as root"});
  if (!plan.samples && !plan.trace)
    plan.unseen.push_back({"who allocates", "neither BPF programs nor trace events can be used here",
                           "`kmemtrace list` says what is missing"});
  const double states = request.seconds / plan.state_interval * kSecondsOfAState;
  plan.least_cpu_seconds = kSecondsAtTheEnd + states + (plan.samples ? kFixedSeconds - kSecondsAtTheEnd : 0);
  plan.kernel_bytes = (plan.samples ? 10u << 20 : 0) + (plan.trace ? kMostTraceBuffer : 0);
  return plan;
}

}  // namespace kmt
