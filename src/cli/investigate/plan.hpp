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
  double seconds = 0;    // to watch
  double cpu_share = 0;  // maximum share of the machine's CPU time
  double threshold_bytes_per_s = 0;
  std::string folder;  // folder for the output
};

// Costs in seconds of CPU time. They are upper ends of measurements by bench/watching and bench/overhead on x86-64. The
// first three are costs in the kernel.
inline constexpr double kSecondsOfASample = 4e-6;
inline constexpr double kSecondsOfAnEvent = 0.4e-6;
inline constexpr double kSecondsOfAStack = 1.6e-6;
inline constexpr double kSecondsOfReading = 0.3e-6;    // per recorded event, in this process
inline constexpr double kSecondsOfAnalysing = 0.9e-6;  // per recorded event, for the analysis and the page at the end
inline constexpr double kSecondsOfAState = 3e-3;
// Fixed cost of start and end: loading programs, two snapshots, reading names, reading a recording, and the page.
inline constexpr double kFixedSeconds = 0.8;
inline constexpr double kSecondsAtTheEnd = 0.4;  // of these
inline constexpr double kSecondsToEndSamples = 0.1;
inline constexpr double kSecondsToRecord = 0.35;       // to start and end a recording
inline constexpr double kSecondsToEndRecording = 0.1;  // of these
inline constexpr double kSecondsOfRecording = 4e-3;    // per second of a recording, even without events

inline constexpr std::uint64_t kMostTraceBuffer = 32 << 20;

// Returns the total CPU budget.
double most_cpu_seconds(const LiveInvestigation& request);

// Returns the interval between states at this time after the start. The interval is shorter at first, so that there are
// enough states after an early Ctrl+C.
double next_state_after(double seconds, const InvestigationPlan& plan);
// Returns the CPU time for the remaining states.
double cpu_of_states(double from_seconds, const InvestigationPlan& plan);
// Returns the CPU time in the kernel per event of a recording. A stack is recorded as a separate event.
double seconds_of_an_event(bool stacks);

// The CPU time and the events used so far.
struct CpuUse {
  double seconds = 0;        // since the start
  double cpu_seconds = 0;    // used by this process and in the kernel
  std::uint64_t events = 0;  // recorded events, which must be read at the end
  bool is_recording = false;
  double events_per_s = 0;  // current rate
  bool stacks = false;
};
// Returns the CPU budget that is not reserved. Reserved are states, the second snapshot, reading the recording, and the
// page. During a recording, its end and the events until the next check are also reserved. A negative value means that
// the budget is exceeded.
double cpu_left(const CpuUse& use, const InvestigationPlan& plan);

// True if samples have used their part of the budget, which happens early on a busy machine. The rest is for a
// recording: of memory that grows now, if it can be recorded for long enough, or else of later growth. False before
// samples can show anything.
bool is_part_of_samples_spent(const CpuUse& use, const InvestigationPlan& plan);
// True if the budget lasts long enough for samples that include pages. `programs_per_s` is the CPU time of the BPF
// programs per second.
bool can_sample_pages(double programs_per_s, double cpu_left, const InvestigationPlan& plan);
// A choice of the growing memory to record.
struct RecordingChoice {
  Narrowing rest;             // wanted memory except single pages, which cost too much with stacks on a whole machine
  Narrowing of;               // part of `rest` that can be recorded long enough, fastest growth first; may be empty
  bool ends_samples = false;  // true: samples must end to make room for the recording
};
// `cpu_seconds` is the available CPU time while samples continue, and `without_samples` if they end. `needed` returns
// the cost of a recording.
RecordingChoice choose_recording(const Narrowing& wanted, double cpu_seconds, double without_samples,
                                 const std::function<double(const Narrowing&)>& needed);

// Returns the total CPU time per event of a recording. With stacks, it includes the event of the stack.
double whole_seconds_of_an_event(bool stacks);

// Returns the reason why slabinfo is unreadable, or nothing if it is readable.
std::optional<UnseenSource> unseen_slabinfo(const std::string& path = "/proc/slabinfo");

// Plans according to the permissions of this process.
InvestigationPlan plan_investigation(const LiveInvestigation& request);

}  // namespace kmt
