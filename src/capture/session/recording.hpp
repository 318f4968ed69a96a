// SPDX-License-Identifier: GPL-2.0-or-later
// A recording of the running kernel: the request, the outcome, and callbacks during the recording.
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

// States whether probes record frees on kernel paths that have no tracepoint.
enum class PathProbing : std::uint8_t {
  not_applicable,  // frees are not recorded, so probes have no use
  off,             // the user does not want probes; the trace has a note about the functions without a probe
  on,
};

// The kernel's types that path probes need.
struct ProbedTypes {
  // Offsets in bytes in struct kmem_cache.
  std::uint64_t cache_name = 0;
  std::uint64_t cache_object_size = 0;  // size without padding
  std::uint64_t cache_size = 0;         // size with padding
  std::uint64_t page_bytes = 0;         // size of struct page
  // Number of parameters of alloc_pages_bulk(), of which the last one is the array. 0 if the kernel has no such
  // function.
  unsigned bulk_pages_parameters = 0;
};

struct RecordRequest {
  std::vector<EventName> events;
  std::vector<KernelFilter> filters;  // filters for some of the events
  // record only these processes and their children; if this and `cgroup` are empty: the whole system
  std::vector<pid_t> pids;
  std::string cgroup;                // record only tasks of this folder of cgroupfs and the folders below it
  std::vector<std::string> command;  // command to run; empty: none
  bool only_command = false;         // record only the command and its children
  bool stacks = false;               // record the kernel stack of every event
  bool user_stacks = false;          // record the user stack of every event of a task
  PathProbing path_probes = PathProbing::not_applicable;
  // Returns the kernel's types, if they are known. Only called if path probes are used, because it reads all types of
  // the kernel.
  std::function<std::optional<ProbedTypes>()> probed_types;
  RecordedCalls calls;  // functions whose calls are recorded; if there are none, no calls are recorded
  std::optional<std::uint64_t> duration_ns;
  std::optional<std::uint64_t> buffer_bytes;  // bytes for each CPU; empty: chosen from the measured rate
  std::uint64_t preferred_buffer_bytes = 0;   // minimum bytes for each CPU if the rate is measured
  std::uint64_t most_buffer_bytes = 0;        // maximum bytes for all CPUs together if the rate is measured
  // time between samples of the memory state; empty: only at start and end
  std::optional<std::uint64_t> sample_interval_ns;
  std::string clock;
  // Path of a persistent tracing instance to record into. Its events are read only at the end. If the path is empty,
  // the recorder makes its own instance.
  std::string persistent_instance;
  std::string scratch_directory;  // folder for recorded pages if no sink takes them; its file system must have room
};

struct RecordProgress {
  double seconds = 0;
  std::uint64_t events = 0;  // number of events so far, without lost events
  std::uint64_t bytes = 0;   // bytes read from ring buffers
  std::uint64_t lost = 0;
  double fullest_buffer = 0;  // filled fraction of the fullest CPU's buffer since the start
};

// The cost of recording on this machine.
struct RecorderCost {
  double cpu_seconds = 0;               // CPU time of the recorder, in seconds
  std::uint64_t peak_bytes = 0;         // maximum resident memory of the recorder
  std::uint64_t ring_buffer_bytes = 0;  // size of the ring buffers of all CPUs together
  double fullest_buffer = 0;            // the same value as RecordProgress::fullest_buffer
};

// Sets the CPU time and memory that the recorder has used so far.
void add_own_cost(RecorderCost& cost);

enum class RecordEnd : std::uint8_t { interrupted, duration, command_ended, cannot_write };

struct RecordOutcome {
  RawRecording recording;  // has no pages if a sink took them
  RecordEnd end = RecordEnd::interrupted;
  bool command_started = false;       // false: there was no command, or the recording ended first
  std::optional<int> command_status;  // as returned by waitpid; empty: there was no command, or it is still running
  std::string write_error;            // error message if `end` is RecordEnd::cannot_write
  double seconds = 0;
  RecorderCost cost;
  // Path of kmemtrace's instance if it could not be removed, because another process keeps it open.
  std::string left_instance;
  // true in a PID namespace, where the recorder's events cannot be filtered out
  bool own_events_recorded = false;
  // number of events lost because the BPF program or probe for the event was already running on the CPU
  std::uint64_t missed_events = 0;
  MissedCounts missed_by_function;           // missed events by function, in all tasks
  std::uint64_t not_followed_processes = 0;  // number of processes that were not followed because too many are selected
  std::string call_backend;                  // how calls were recorded, such as "BPF trampolines (fentry, fexit)"
  std::string call_backend_reason;           // reason for choosing this back end
  bool missed_calls_are_known = true;        // false if the counts of kprobe events are unavailable
  std::string no_mappings_reason;            // reason why the kernel does not report new mappings (with user stacks)
  std::string lost_mappings;                 // text about missing records of mappings
  std::string lost_cgroup_moves;             // text about missed moves to other cgroups
  std::string late_mappings;                 // text about a late start of mapping records
  // number of mappings whose build ID is unknown because the file's device did not answer
  std::uint64_t unanswered_build_ids = 0;
  // True if the recorder has too many threads for an event filter, so its threads are excluded by a list of PIDs.
  bool filtered_by_pid_list = false;
  // With a persistent instance: why a description of the boot could not be written into the buffer, or why it lacks the
  // tasks. Empty: nothing is missing.
  std::string incomplete_marks;
};

// Callbacks of the recorder. All except `completed` are called in the thread that called the recorder.
struct RecordHooks {
  std::function<bool()> interrupted;  // called at least every 100 ms
  // Called four times per second. `recording` returns the data that has changed since the start: the names of tasks,
  // and the kernel's counts.
  std::function<void(const RecordProgress&, const std::function<RawRecording()>& recording)> progress = nullptr;
  // Called before tracing starts. Returns the sink for the pages, or nullptr to use files. May throw to cancel the
  // recording. May take the kernel's symbols (kallsyms), which the recorder does not need any more.
  std::function<PageSink*(KernelDescription&, const std::vector<unsigned>& cpus)> described = nullptr;
  std::function<void(const StateSample&)> sampled = nullptr;
  // Called for the first and the last sample, outside the recorded time. May add data that take longer to read. For the
  // first sample, it is called in another thread, while `described` may run.
  std::function<void(StateSample&)> completed = nullptr;
  // Called with programs' mappings at the start, and later with new mappings. Without this hook, all mappings are in
  // the outcome.
  std::function<void(UserMemory)> mapped = nullptr;
  std::function<void()> started = nullptr;  // called right before the recording starts
};

}  // namespace kmt
