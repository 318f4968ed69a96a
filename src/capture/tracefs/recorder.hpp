// SPDX-License-Identifier: GPL-2.0-or-later
// Records the live kernel's ring buffers into files, page by page, without copying events through user space.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/features/events.hpp"
#include "trace/raw_recording.hpp"

namespace kmt {

struct RecordRequest {
  std::vector<EventName> events;
  std::vector<pid_t> pids;           // only these and what they fork; empty: the whole system
  std::vector<std::string> command;  // empty: none
  bool only_command = false;         // only the command and what it forks
  std::optional<std::uint64_t> duration_ns;
  std::uint64_t buffer_bytes = 0;  // a CPU
  std::string clock;
  std::string scratch_directory;  // where the pages are kept until they are written; its file system must hold them
};

struct RecordProgress {
  double seconds = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
};

enum class RecordEnd : std::uint8_t { interrupted, duration, command_ended, cannot_write };

struct RecordOutcome {
  RawRecording recording;
  RecordEnd end = RecordEnd::interrupted;
  std::optional<int> command_status;  // as waitpid gives it
  std::string write_error;            // of RecordEnd::cannot_write
  double seconds = 0;
  std::string left_instance;          // ours, when somebody keeps it open and it could not be removed
  bool own_events_recorded = false;   // in a PID namespace, where the recorder cannot be filtered out
  bool filtered_by_pid_list = false;  // too many threads for an event filter: see own_threads.hpp
};

// Callbacks of the recorder, all from the calling thread.
struct RecordHooks {
  std::function<bool()> interrupted;                                  // asked every 100 ms or more often
  std::function<void(const RecordProgress&)> progress = nullptr;      // told four times a second
  std::function<void(const KernelDescription&)> described = nullptr;  // before tracing starts; may throw to give up
};

// Records until the command ends, the time is over, or interrupted() says so. The instance is gone when it returns or
// throws. A command that cannot be executed throws Error.
RecordOutcome record(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks);

// What the kernel counts for one CPU (per_cpu/cpuN/stats).
struct CpuCounters {
  std::uint64_t read = 0;    // events that have left the ring buffer
  std::uint64_t unread = 0;  // events in it
  std::uint64_t lost = 0;    // overwritten, dropped, refused by nesting
};
CpuCounters parse_cpu_counters(const std::string& statistics);

}  // namespace kmt
