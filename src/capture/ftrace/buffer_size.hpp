// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the size of ring buffers.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

// Measures how many bytes per second the busiest CPU writes. The kernel counts them, so the recorder can meanwhile do
// other work that does not change the instance.
class RateMeasurement {
 public:
  // Enables the events and starts tracing. `instance` must outlive the measurement. Throws Error.
  RateMeasurement(const TracefsInstance& instance, const std::vector<EventName>& events);
  // Returns the bytes per second. Waits until the measurement has taken 0.1 s. Empties the buffers. Tracing is off
  // afterwards. Throws Error.
  std::uint64_t finish() const;

 private:
  const TracefsInstance& instance_;
  std::chrono::steady_clock::time_point start_;
};

// Returns the buffer size per CPU in bytes: enough for a second at the measured rate, but at least `preferred`, because
// load may start at any time. All CPUs together are limited to `most_bytes`, or to 256 KiB per CPU if that is more.
std::uint64_t choose_buffer_size(std::uint64_t bytes_a_second, std::uint64_t preferred, std::uint64_t most_bytes,
                                 unsigned cpus);

// Sets the buffer size, and the fill level at which the kernel wakes a reader. Throws Error.
void size_buffers(const TracefsInstance& instance, std::uint64_t bytes_per_cpu);

}  // namespace kmt
