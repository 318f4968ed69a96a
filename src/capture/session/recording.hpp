// SPDX-License-Identifier: GPL-2.0-or-later
// A recording of the running kernel: its request, its outcome, and callbacks during it.
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
  std::vector<pid_t> pids;            // only these and their children; if empty and without a cgroup: the whole system
  std::string cgroup;                 // only tasks of this folder of cgroupfs and those below it
  std::vector<std::string> command;   // empty: none
  bool only_command = false;          // only the command and its children
  bool stacks = false;                // the kernel's stack with every event
  bool user_stacks = false;           // the program's, with every event of a task
  RecordedCalls calls;                // without functions: none
  std::optional<std::uint64_t> duration_ns;
  std::optional<std::uint64_t> buffer_bytes;        // per CPU; empty: from the measured rate
  std::uint64_t preferred_buffer_bytes = 0;         // per CPU: the least for a measured rate
  std::uint64_t most_buffer_bytes = 0;              // of all CPUs together: the most for a measured rate
  std::optional<std::uint64_t> sample_interval_ns;  // between samples of the memory's state; empty: only at start and
                                                    // end
  std::string clock;
  std::string scratch_directory;  // place of the pages if no sink takes them; its file system must have room
};

struct RecordProgress {
  double seconds = 0;
  std::uint64_t events = 0;  // not lost so far
  std::uint64_t bytes = 0;   // read from ring buffers
  std::uint64_t lost = 0;
  double fullest_buffer = 0;  // filled part of the fullest CPU's buffer since the start
};

// The cost of recording for this machine.
struct RecorderCost {
  double cpu_seconds = 0;               // of the recorder
  std::uint64_t peak_bytes = 0;         // resident memory of the recorder
  std::uint64_t ring_buffer_bytes = 0;  // all CPUs
  double fullest_buffer = 0;            // as above
};

// Adds the recorder's own cost so far.
void add_own_cost(RecorderCost& cost);

enum class RecordEnd : std::uint8_t { interrupted, duration, command_ended, cannot_write };

struct RecordOutcome {
  RawRecording recording;  // without pages if a sink took them
  RecordEnd end = RecordEnd::interrupted;
  std::optional<int> command_status;  // as waitpid gives it; empty: no command, or it still runs
  std::string write_error;            // of RecordEnd::cannot_write
  double seconds = 0;
  RecorderCost cost;
  std::string left_instance;                 // ours, if another process keeps it open
  bool own_events_recorded = false;          // in a PID namespace, where the recorder cannot be filtered out
  std::uint64_t missed_events = 0;           // lost because BPF programs or probes were already busy
  MissedCounts missed_by_function;           // of these; of all tasks
  std::uint64_t not_followed_processes = 0;  // selected ones that exceeded the limit
  std::string call_backend;                  // how calls were recorded: "BPF trampolines (fentry, fexit)"
  std::string call_backend_reason;           // reason for this choice
  bool missed_calls_are_known = true;        // of kprobe events
  std::string no_mappings_reason;            // with user stacks: why the kernel does not report new mappings
  std::string lost_mappings;                 // missing records of mappings, in words
  std::string lost_cgroup_moves;             // missed moves to other cgroups, in words
  std::string late_mappings;                 // late start of mapping records, in words
  std::uint64_t unanswered_build_ids = 0;    // mappings without one, because their file's device did not answer
  bool filtered_by_pid_list = false;         // too many threads for an event filter
};

// Callbacks of the recorder, all from the calling thread.
struct RecordHooks {
  std::function<bool()> interrupted;  // called at least every 100 ms
  // Called four times per second. `recording` returns changes since the start: names of tasks, and the kernel's counts.
  std::function<void(const RecordProgress&, const std::function<RawRecording()>& recording)> progress = nullptr;
  // Called before tracing starts; may throw to give up. Returns the sink of the pages, or nullptr for files.
  std::function<PageSink*(const KernelDescription&, const std::vector<unsigned>& cpus)> described = nullptr;
  std::function<void(const StateSample&)> sampled = nullptr;
  // Called for the first and the last sample, outside the recording: may add facts that take longer to read.
  std::function<void(StateSample&)> completed = nullptr;
  // Called with programs' mappings at the start, then with new ones; without it all of them come at the end.
  std::function<void(UserMemory)> mapped = nullptr;
  std::function<void()> started = nullptr;  // called right before the recording starts
};

}  // namespace kmt
