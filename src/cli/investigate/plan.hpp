// SPDX-License-Identifier: GPL-2.0-or-later
// What `investigate` is going to do on the running kernel, and what that takes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "results/growth/investigation.hpp"

namespace kmt {

struct LiveInvestigation {
  double seconds = 0;    // to watch
  double cpu_share = 0;  // of the machine, at most
  double threshold_bytes_per_s = 0;
  std::string folder;  // for what is written
};

// Seconds of CPU time: upper ends of what bench/watching and bench/overhead show on x86-64. In the kernel:
inline constexpr double kSecondsOfASample = 4e-6;
inline constexpr double kSecondsOfAnEvent = 0.4e-6;
inline constexpr double kSecondsOfAStack = 1.6e-6;
inline constexpr double kSecondsOfReading = 0.3e-6;    // an event of a recording, here
inline constexpr double kSecondsOfAnalysing = 0.9e-6;  // likewise, when it has ended: to judge it, and for the page
inline constexpr double kSecondsOfAState = 3e-3;
// What beginning and ending cost at any rate: loading programs, two snapshots, names; reading a recording, the page.
inline constexpr double kFixedSeconds = 0.8;
inline constexpr double kSecondsAtTheEnd = 0.4;  // of these
inline constexpr double kSecondsToEndSamples = 0.1;
inline constexpr double kSecondsToRecord = 0.35;       // to begin and to end a recording
inline constexpr double kSecondsToEndRecording = 0.1;  // of these
inline constexpr double kSecondsOfRecording = 4e-3;    // a second of it, whatever comes

inline constexpr std::uint64_t kMostTraceBuffer = 32 << 20;

// Of CPU time, that may be taken in all.
double most_cpu_seconds(const LiveInvestigation& request);

// From one state to the next so many seconds after the begin: the first follow each other faster, so that Ctrl+C leaves
// enough of them soon.
double next_state_after(double seconds, const InvestigationPlan& plan);
// What is left to be read of them, in CPU time.
double cpu_of_states(double from_seconds, const InvestigationPlan& plan);
// Of an event of a recording in the kernel; a stack is an event of its own.
double seconds_of_an_event(bool stacks);

// What was taken until now.
struct CpuUse {
  double seconds = 0;        // since the begin
  double cpu_seconds = 0;    // here and in the kernel
  std::uint64_t events = 0;  // recorded, which are read at the end
  bool is_recording = false;
  double events_per_s = 0;  // then
  bool stacks = false;
};
// Beside what is needed at any rate: states, the second snapshot, reading what was recorded, the page; while recording
// also ending it, and what comes until that is looked at again. Below 0: none.
double cpu_left(const CpuUse& use, const InvestigationPlan& plan);

// Whether samples have spent their part, as they do on a busy machine before the time is over: what is left is for a
// recording: of what grows by then, where it can be recorded for long enough, or else of what grows later. Not before
// they tell anything.
bool is_part_of_samples_spent(const CpuUse& use, const InvestigationPlan& plan);
// Whether samples last for long enough with those of pages too, by what the programs take of them, in CPU time a
// second.
bool can_sample_pages(double programs_per_s, double cpu_left, const InvestigationPlan& plan);
// What of that is recorded which may grow.
struct RecordingChoice {
  Narrowing rest;  // without single pages: of the whole machine, with their stacks, they cost too much
  Narrowing of;    // as much of the rest as lasts for long enough, what grows most first; empty: nothing does
  bool ends_samples = false;  // they have to make room for it
};
// `cpu_seconds` there are beside samples, `without_samples` where these end; `needed` tells what a recording takes.
RecordingChoice choose_recording(const Narrowing& wanted, double cpu_seconds, double without_samples,
                                 const std::function<double(const Narrowing&)>& needed);

// Of an event of a recording, in all; with its stack, which is an event of its own.
double whole_seconds_of_an_event(bool stacks);

// Why slabinfo cannot be read; empty: it can.
std::optional<UnseenSource> unseen_slabinfo(const std::string& path = "/proc/slabinfo");

// By looking at what is permitted here.
InvestigationPlan plan_investigation(const LiveInvestigation& request);

}  // namespace kmt
