// SPDX-License-Identifier: GPL-2.0-or-later
// A recording of the running kernel: what is asked for, what comes of it, and who is told meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/features/events.hpp"
#include "capture/missed_log.hpp"
#include "capture/recorded_calls.hpp"
#include "trace/code/user_memory.hpp"
#include "trace/page_sink.hpp"
#include "trace/raw_recording.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

struct RecordRequest {
  std::vector<EventName> events;
  std::vector<KernelFilter> filters;  // of some of the events
  std::vector<pid_t> pids;            // only these and what they fork; with the cgroup empty: the whole system
  std::string cgroup;                 // only tasks of this folder of cgroupfs and those below it
  std::vector<std::string> command;   // empty: none
  bool only_command = false;          // only the command and what it forks
  bool stacks = false;                // the kernel's stack with every event
  bool user_stacks = false;           // the program's, with every event that a task makes
  RecordedCalls calls;                // of no function: none
  std::optional<std::uint64_t> duration_ns;
  std::optional<std::uint64_t> buffer_bytes;        // a CPU; empty: from the measured rate
  std::uint64_t preferred_buffer_bytes = 0;         // a CPU, at least, where the measured rate decides
  std::uint64_t most_buffer_bytes = 0;              // of all CPUs together, where the measured rate decides
  std::optional<std::uint64_t> sample_interval_ns;  // of the memory's state; empty: at start and end only
  std::string clock;
  std::string scratch_directory;  // where the pages are kept when no sink takes them; its file system must hold them
};

struct RecordProgress {
  double seconds = 0;
  std::uint64_t events = 0;  // that have not been lost so far
  std::uint64_t bytes = 0;   // of ring buffer that have been read
  std::uint64_t lost = 0;
  double fullest_buffer = 0;  // part of it that was filled, the fullest CPU's since the start
};

// What recording costs this machine.
struct RecorderCost {
  double cpu_seconds = 0;               // of the recorder
  std::uint64_t peak_bytes = 0;         // resident memory of the recorder
  std::uint64_t ring_buffer_bytes = 0;  // all CPUs
  double fullest_buffer = 0;            // as above
};

// What the recorder itself has taken so far.
void add_own_cost(RecorderCost& cost);

enum class RecordEnd : std::uint8_t { interrupted, duration, command_ended, cannot_write };

struct RecordOutcome {
  RawRecording recording;  // without pages when a sink took them
  RecordEnd end = RecordEnd::interrupted;
  std::optional<int> command_status;  // as waitpid gives it; empty: there is no command, or it still runs
  std::string write_error;            // of RecordEnd::cannot_write
  double seconds = 0;
  RecorderCost cost;
  std::string left_instance;                 // ours, when somebody keeps it open and it could not be removed
  bool own_events_recorded = false;          // in a PID namespace, where the recorder cannot be filtered out
  std::uint64_t missed_events = 0;           // of the lost ones: by BPF programs or probes that were at work already
  MissedCounts missed_by_function;           // of these; of all tasks
  std::uint64_t not_followed_processes = 0;  // of selected ones, for want of room
  std::string call_backend;                  // how calls were recorded: "BPF trampolines (fentry, fexit)"
  std::string call_backend_reason;           // why so
  bool missed_calls_are_known = true;        // of kprobe events
  std::string no_mappings_reason;            // of user stacks: why the kernel does not tell what is mapped meanwhile
  std::string lost_mappings;                 // which records of those are missing, in words
  std::string lost_cgroup_moves;             // which moves to other cgroups were not seen, in words
  std::string late_mappings;                 // when they began late, in words
  std::uint64_t unanswered_build_ids = 0;    // mappings without one, since their file's device did not answer
  bool filtered_by_pid_list = false;         // too many threads for an event filter
};

// Callbacks of the recorder, all from the calling thread.
struct RecordHooks {
  std::function<bool()> interrupted;  // asked every 100 ms or more often
  // Told four times a second. `recording` gives what has changed since the start: the names of tasks,
  // and the kernel's counts.
  std::function<void(const RecordProgress&, const std::function<RawRecording()>& recording)> progress = nullptr;
  // Before tracing starts; may throw to give up. Returns who takes the pages, or nullptr: they go into files.
  std::function<PageSink*(const KernelDescription&, const std::vector<unsigned>& cpus)> described = nullptr;
  std::function<void(const StateSample&)> sampled = nullptr;
  // Of the first and the last sample, while nothing is recorded: may add what takes longer to read.
  std::function<void(StateSample&)> completed = nullptr;
  // What lay where in programs at the start, then what they mapped since; without it all of it comes at the end.
  std::function<void(UserMemory)> mapped = nullptr;
  std::function<void()> started = nullptr;  // what happens from now on is recorded
};

}  // namespace kmt
