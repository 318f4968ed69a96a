// SPDX-License-Identifier: GPL-2.0-or-later
// How large ring buffers have to be.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

// What the busiest CPU writes with these events, in bytes a second, measured for a tenth of a second; the events are
// enabled then, and tracing is off. Throws Error.
std::uint64_t measure_rate(const TracefsInstance& instance, const std::vector<EventName>& events);

// Bytes a CPU: enough for a second of what was measured and not less than `preferred`, since a load may begin at any
// time, but all CPUs together at most `most_bytes`, or 256 KiB a
// CPU where that is more.
std::uint64_t choose_buffer_size(std::uint64_t bytes_a_second, std::uint64_t preferred, std::uint64_t most_bytes,
                                 unsigned cpus);

// Sets the size, and how full a buffer is when its reader is woken. Throws Error.
void size_buffers(const TracefsInstance& instance, std::uint64_t bytes_per_cpu);

}  // namespace kmt
