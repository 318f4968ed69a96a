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
// For an event of a recording, in the kernel; a stack is an event of its own.
double seconds_of_an_event(bool stacks);

// The budget used so far.
struct CpuUse {
  double seconds = 0;        // since the start
  double cpu_seconds = 0;    // in this process and the kernel
  std::uint64_t events = 0;  // recorded, to be read at the end
  bool is_recording = false;
  double events_per_s = 0;  // their present rate
  bool stacks = false;
};
// The budget that is not reserved for states, the second snapshot, reading the recording, and the page; during a
// recording also for its end, and events until the next check. Negative: none.
double cpu_left(const CpuUse& use, const InvestigationPlan& plan);

// True if samples have used their part, which happens early on a busy machine: the rest is for a recording, of memory
// that grows by then if it can be recorded for long enough, or else of later growth. False before samples show
// anything.
bool is_part_of_samples_spent(const CpuUse& use, const InvestigationPlan& plan);
// True if samples last long enough with those of pages, at this cost of the programs in CPU time per second.
bool can_sample_pages(double programs_per_s, double cpu_left, const InvestigationPlan& plan);
// The part of growing memory to record.
struct RecordingChoice {
  Narrowing rest;             // without single pages: on the whole machine, with stacks, they cost too much
  Narrowing of;               // as much of the rest as can be recorded long enough, fastest growth first; may be empty
  bool ends_samples = false;  // samples must make room for it
};
// `cpu_seconds` are available besides samples, `without_samples` if these end; `needed` returns a recording's cost.
RecordingChoice choose_recording(const Narrowing& wanted, double cpu_seconds, double without_samples,
                                 const std::function<double(const Narrowing&)>& needed);

// For an event of a recording, in all; with its stack, which is an event of its own.
double whole_seconds_of_an_event(bool stacks);

// Why slabinfo is unreadable; empty: it is readable.
std::optional<UnseenSource> unseen_slabinfo(const std::string& path = "/proc/slabinfo");

// By looking at permissions here.
InvestigationPlan plan_investigation(const LiveInvestigation& request);

}  // namespace kmt
