// SPDX-License-Identifier: GPL-2.0-or-later
// Controls a recording from its start to its end. There are two back ends: ftrace's ring buffers and BPF programs. The
// session does the work that is the same for both: it runs the command, measures the time, samples the memory state,
// and collects what /proc and perf report about tasks.
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

// The session calls these functions in the order of their declaration. However, it may call `now_ticks`, `statistics`
// and the functions between them at any time between start and finish. All functions may throw Error.
class RecordBackend {
 public:
  struct Traits {
    std::string clock;  // name of the trace's clock
    // true for ftrace, which selects the tasks of a cgroup by their IDs, and records moves between cgroups only for
    // these tasks
    bool selects_cgroups_by_task = false;
    bool saves_task_names = false;  // true: the kernel keeps names of tasks that have ended
  };

  virtual ~RecordBackend() = default;
  virtual Traits traits() const = 0;

  // Sets up everything, but does not start recording. Sets the kernel description and the call back end of `outcome`.
  // `command` may be nullptr.
  virtual void prepare(const HeldCommand* command, RecordOutcome& outcome) = 0;
  virtual const std::vector<unsigned>& cpus() const = 0;
  // Opens the sink and starts the reader threads. `own` has the recorder's other threads; their events and those of the
  // reader threads are excluded. If `own` is empty, nothing is excluded. Returns the threads whose events are excluded.
  virtual std::vector<pid_t> open(std::vector<pid_t> own, RecordOutcome& outcome) = 0;
  virtual void attach() = 0;  // called before the first sample; recording is still off
  virtual void start() = 0;

  virtual std::uint64_t now_ticks() const = 0;                   // current time of the trace's clock
  virtual RecorderMemory memory() const = 0;                     // amount of kernel memory in use for buffers
  virtual bool failed() const = 0;                               // true if writing has failed
  virtual void poll() = 0;                                       // called four times per second
  virtual RecordProgress progress() const = 0;                   // does not set RecordProgress::seconds
  virtual bool counts_missed_calls() const = 0;                  // true if missed_calls() is available
  virtual std::optional<MissedCounts> missed_calls() const = 0;  // empty if the kernel's counts contradict each other
  virtual std::uint64_t missed_events() const = 0;               // number of missed events, without calls
  // returns a text as in per_cpu/cpuN/stats; `cpu` is an index in cpus()
  virtual std::string statistics(std::size_t cpu) const = 0;

  virtual void stop() = 0;
  // Ends the threads after they have read the remaining contents, and removes everything that prepare() made. Sets the
  // recorded CPUs, the write error and the cost in `outcome`.
  virtual void finish(RecordOutcome& outcome) = 0;
};

// Records until the command ends, the time is over, or interrupted() is true. Throws Error if the command cannot be
// executed.
RecordOutcome run_session(RecordBackend& backend, const std::string& tracefs, const RecordRequest& request,
                          const RecordHooks& hooks);

// True if the request selects tasks by their IDs.
bool selects_tasks(const RecordRequest& request);

}  // namespace kmt
