// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the size of ring buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

// Measures for 20 ms how many bytes per second the busiest CPU writes. Enables the events. Afterwards, tracing is off.
// The buffers keep the measured events, until the clock of the instance is set. Throws Error.
std::uint64_t measure_rate(const TracefsInstance& instance, const std::vector<EventName>& events);

// Returns the buffer size per CPU in bytes: enough for a second at the measured rate, but at least `preferred`, because
// load may start at any time. All CPUs together are limited to `most_bytes`, or to 256 KiB per CPU if that is more.
std::uint64_t choose_buffer_size(std::uint64_t bytes_a_second, std::uint64_t preferred, std::uint64_t most_bytes,
                                 unsigned cpus);

// Sets the buffer size, and the fill level at which the kernel wakes a reader. Throws Error.
void size_buffers(const TracefsInstance& instance, std::uint64_t bytes_per_cpu);

}  // namespace kmt
