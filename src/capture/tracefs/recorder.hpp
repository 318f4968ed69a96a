// SPDX-License-Identifier: GPL-2.0-or-later
// Records the running kernel into one nameless file of ring-buffer pages a CPU, beside a description of the kernel.
// What becomes of them is the caller's business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "capture/tracefs/buffer_stats.hpp"
#include "capture/tracefs/command.hpp"
#include "capture/tracefs/cpu_readers.hpp"
#include "capture/tracefs/signals.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

struct RecordRequest {
  std::string tracefs;             // where it is mounted
  std::vector<EventName> events;   // at least one
  std::vector<std::int32_t> pids;  // only these processes and what they start; empty: the whole system
  std::uint64_t duration_ns = 0;   // 0: until a signal, or the command's end
  std::uint64_t buffer_bytes_per_cpu = 0;
  std::string clock;
  std::vector<std::string> command;  // empty: none
  bool only_command = false;         // only the command and what it starts
  std::string scratch_directory;     // for the pages; best the output's
};

struct RecordProgress {
  std::uint64_t elapsed_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::uint64_t bytes = 0;
};

enum class EndReason { duration, command_ended, interrupted, failed };

struct RecordedCpu {
  CpuPages pages;
  CpuStats stats;  // when all had been read
};

struct Recording {
  KernelDescription kernel;
  std::vector<RecordedCpu> cpus;
  std::uint64_t elapsed_ns = 0;
  EndReason reason = EndReason::duration;
  std::optional<Error> failure;      // why it ended early; what was stored until then is here
  std::vector<std::string> remarks;  // what the user should know
  std::unique_ptr<Command> command;  // may still run
};

// Ends by itself or by a signal of `signals`. `progress` is called about every half second; may be empty. No instance,
// process or file of it is left, whatever happens, but a command that goes on running. Throws Error when recording
// could not begin, or the command could not be executed.
Recording record(const RecordRequest& request, SignalWatch& signals,
                 const std::function<void(const RecordProgress&)>& progress);

}  // namespace kmt
