// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the size of ring buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

// Returns the bytes per second that the busiest CPU writes with these events, measured for a tenth of a second with
// tracing off. Throws Error.
std::uint64_t measure_rate(const TracefsInstance& instance, const std::vector<EventName>& events);

// Returns bytes per CPU: a second at the measured rate, and at least `preferred`, because load may start at any time.
// The limit for all CPUs together is `most_bytes`, or 256 KiB per CPU if that is more.
std::uint64_t choose_buffer_size(std::uint64_t bytes_a_second, std::uint64_t preferred, std::uint64_t most_bytes,
                                 unsigned cpus);

// Sets the size, and the fill level that wakes a buffer's reader. Throws Error.
void size_buffers(const TracefsInstance& instance, std::uint64_t bytes_per_cpu);

}  // namespace kmt
