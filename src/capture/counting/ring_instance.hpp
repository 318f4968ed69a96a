// SPDX-License-Identifier: GPL-2.0-or-later
// A tracing instance whose events are read as they come, by the thread that counts them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/byte_reader.hpp"
#include "base/file.hpp"
#include "capture/features/events.hpp"
#include "capture/ftrace/process_filter.hpp"
#include "capture/ftrace/watcher.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

class RingInstance {
 public:
  // Enables the events for these processes and this cgroup (empty: all). This process's allocations are excluded.
  // Throws Error.
  RingInstance(const std::string& tracefs, const std::vector<EventName>& events, const std::vector<pid_t>& processes,
               const std::string& cgroup);

  // Passes all new pages of the ring buffers to `take`, each CPU's in order. Throws Error.
  void drain(const std::function<void(unsigned cpu, Bytes page)>& take);
  // Returns how many events were lost since the start, because they came faster than they were read.
  std::uint64_t lost() const;

  // The formats of the events, and the layout of pages.
  const KernelDescription& kernel() const { return kernel_; }
  std::uint64_t buffer_bytes() const { return buffer_bytes_; }  // of all CPUs together

 private:
  struct Cpu {
    unsigned number = 0;
    FileDescriptor ring;
    std::uint64_t pages = 0;  // of its buffer
  };

  // Created before the instance and destroyed after it, so that it removes the instance if this process is killed.
  Watcher watcher_;
  TracefsInstance instance_;
  KernelDescription kernel_;
  std::optional<ProcessFilter> processes_;
  std::vector<Cpu> cpus_;
  std::vector<std::uint8_t> page_;
  std::uint64_t buffer_bytes_ = 0;
};

}  // namespace kmt
