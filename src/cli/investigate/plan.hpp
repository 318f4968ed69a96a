// SPDX-License-Identifier: GPL-2.0-or-later
// Plans an investigation of the running kernel, and estimates its cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

struct LiveInvestigation {
  double seconds = 0;    // duration of the investigation
  double cpu_share = 0;  // maximum share of the CPU time of the whole machine, from 0 to 1
  double threshold_bytes_per_s = 0;
  std::string folder;  // folder for the output
};

// Costs in seconds of CPU time. They are the highest values that bench/watching and bench/overhead measured on x86-64.
// The first three are costs in the kernel.
inline constexpr double kSecondsOfASample = 4e-6;
inline constexpr double kSecondsOfAnEvent = 0.4e-6;
inline constexpr double kSecondsOfAStack = 1.6e-6;
inline constexpr double kSecondsOfReading = 0.3e-6;  // CPU seconds per recorded event, for reading it in this process
// CPU time per recorded event, for the analysis and the page at the end
inline constexpr double kSecondsOfAnalysing = 0.9e-6;
inline constexpr double kSecondsOfAState = 3e-3;
// The fixed cost of the start and the end. It includes loading programs, two snapshots, reading names, reading a
// recording, and writing the page.
inline constexpr double kFixedSeconds = 0.8;
inline constexpr double kSecondsAtTheEnd = 0.4;  // the part of kFixedSeconds for the end
inline constexpr double kSecondsToEndSamples = 0.1;
inline constexpr double kSecondsToRecord = 0.35;       // CPU seconds for starting and for ending a recording
inline constexpr double kSecondsToEndRecording = 0.1;  // the part of kSecondsToRecord for the end
inline constexpr double kSecondsOfRecording = 4e-3;    // CPU time per second of a recording, even if it has no events

inline constexpr std::uint64_t kMostTraceBuffer = 32 << 20;

// Returns the CPU budget of the whole investigation in seconds.
double most_cpu_seconds(const LiveInvestigation& request);

// Returns the interval in seconds until the kernel's counters are read again. `seconds` is the time since the start.
// The interval is shorter at the start, so that there is enough data after an early Ctrl+C.
double next_state_after(double seconds, const InvestigationPlan& plan);
// Returns the CPU time in seconds for reading the kernel's counters until the end.
double cpu_of_states(double from_seconds, const InvestigationPlan& plan);
// Returns the CPU time in seconds that the kernel needs per event of a recording. A stack counts as a separate event.
double seconds_of_an_event(bool stacks);

// The CPU time and the events that an investigation has used so far.
struct CpuUse {
  double seconds = 0;        // time since the start
  double cpu_seconds = 0;    // CPU time that this process and the kernel used
  std::uint64_t events = 0;  // number of recorded events, which must be read at the end
  bool is_recording = false;
  double events_per_s = 0;  // current rate
  bool stacks = false;
};
// Returns the part of the CPU budget that is left and not reserved, in seconds. CPU time is reserved for reading the
// kernel's counters, the second snapshot, reading the recording, and the page. During a recording, CPU time is also
// reserved for the end of the recording and for the events until the next check. A negative value means that the budget
// is exceeded.
double cpu_left(const CpuUse& use, const InvestigationPlan& plan);

// True if the samples have used up their part of the CPU budget, which happens early on a busy machine. The rest of the
// budget is for a recording. The recording starts now if memory grows and the budget suffices, and otherwise later.
// Returns false while there are too few samples to show anything.
bool is_part_of_samples_spent(const CpuUse& use, const InvestigationPlan& plan);
// True if the CPU budget suffices for samples that include pages. `programs_per_s` is the CPU time of the BPF programs
// per second.
bool can_sample_pages(double programs_per_s, double cpu_left, const InvestigationPlan& plan);
// The part of the growing memory that will be recorded.
struct RecordingChoice {
  // The growing memory without single pages (order 0). Recording single pages with stacks on a whole machine costs too
  // much.
  Narrowing rest;
  Narrowing of;  // the part of `rest` that can be recorded for long enough, fastest growth first; may be empty
  bool ends_samples = false;  // true: sampling must end to make room for the recording
};
// Chooses what is recorded, and whether sampling continues. `cpu_seconds` is the CPU time available if sampling
// continues, and `without_samples` the CPU time available if sampling ends. `needed` returns the CPU time that a
// recording needs.
RecordingChoice choose_recording(const Narrowing& wanted, double cpu_seconds, double without_samples,
                                 const std::function<double(const Narrowing&)>& needed);

// Returns the total CPU time in seconds per event of a recording. With stacks, this includes the separate event of the
// stack.
double whole_seconds_of_an_event(bool stacks);

// Returns the reason why slabinfo cannot be read. Returns nothing if it can be read.
std::optional<UnseenSource> unseen_slabinfo(const std::string& path = "/proc/slabinfo");

// Plans an investigation according to the permissions of this process.
InvestigationPlan plan_investigation(const LiveInvestigation& request);

}  // namespace kmt
