// SPDX-License-Identifier: GPL-2.0-or-later
// A recording from its start to its end. Two back ends record: ftrace's ring buffers and BPF programs. Everything else
// is here: the command, the time, samples of the memory's state, and what /proc and perf report about tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/missed_log.hpp"
#include "capture/session/command.hpp"
#include "capture/session/recording.hpp"
#include "capture/sideband/memory_state.hpp"

namespace kmt {

// The session calls the functions in this order; from `now_ticks` to `statistics` at any time between start and finish.
// All may throw Error.
class RecordBackend {
 public:
  struct Traits {
    std::string clock;  // the trace's
    // ftrace selects a cgroup by the IDs of its tasks, and reports moves between cgroups only of selected tasks.
    bool selects_cgroups_by_task = false;
    bool saves_task_names = false;  // the kernel keeps names of tasks that have ended
  };

  virtual ~RecordBackend() = default;
  virtual Traits traits() const = 0;

  // Sets up everything, with recording off. Fills in the outcome's kernel description and call back end. `command`: may
  // be nullptr.
  virtual void prepare(const HeldCommand* command, RecordOutcome& outcome) = 0;
  virtual const std::vector<unsigned>& cpus() const = 0;
  // Opens the sink, and starts the reader threads. `own`: other threads of the recorder, whose events are unwanted
  // (empty: all events are wanted). Returns all threads whose events are excluded.
  virtual std::vector<pid_t> open(std::vector<pid_t> own, RecordOutcome& outcome) = 0;
  virtual void attach() = 0;  // before the first sample: recording is still off
  virtual void start() = 0;

  virtual std::uint64_t now_ticks() const = 0;                   // of the trace's clock
  virtual RecorderMemory memory() const = 0;                     // kernel memory of its buffers
  virtual bool failed() const = 0;                               // writing has failed
  virtual void poll() = 0;                                       // four times per second
  virtual RecordProgress progress() const = 0;                   // seconds excluded
  virtual bool counts_missed_calls() const = 0;                  // missed_calls() is meaningful
  virtual std::optional<MissedCounts> missed_calls() const = 0;  // empty: the kernel's counts disagree
  virtual std::uint64_t missed_events() const = 0;               // except calls
  virtual std::string statistics(std::size_t cpu) const = 0;     // as in per_cpu/cpuN/stats; of an index in cpus()

  virtual void stop() = 0;
  // Ends the threads after they have read the rest, and removes what prepare() made. Fills in the recording's CPUs, the
  // write error and costs.
  virtual void finish(RecordOutcome& outcome) = 0;
};

// Records until the command ends, the time is over, or interrupted() is true. Throws Error for a command that cannot be
// executed.
RecordOutcome run_session(RecordBackend& backend, const std::string& tracefs, const RecordRequest& request,
                          const RecordHooks& hooks);

// True if the request selects tasks by their IDs.
bool selects_tasks(const RecordRequest& request);

}  // namespace kmt
