// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/buffer_size.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "capture/tracefs/buffer_counters.hpp"

namespace kmt {

namespace {

constexpr std::chrono::milliseconds kMeasuring{20};
constexpr std::uint64_t kFewestBytes = 256 << 10;
// The fill level of the buffer, in percent, at which the kernel wakes a reader. It is high enough to wake readers
// rarely, but leaves time for a slow reader.
constexpr const char* kWakePercent = "10";

}  // namespace

std::uint64_t measure_rate(const TracefsInstance& instance, const std::vector<EventName>& events) {
  for (const EventName& event : events) instance.set(fmt::format("events/{}/{}/enable", event.system, event.name), "1");
  instance.set("tracing_on", "1");
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(kMeasuring);
  instance.set("tracing_on", "0");
  const double seconds = seconds_since(start);
  std::uint64_t most = 0;
  for (const unsigned cpu : ring_buffer_cpus(instance.path())) {
    const BufferCounters counters = parse_buffer_counters(read_buffer_statistics(instance.path(), cpu));
    if (counters.unread == 0) continue;
    const double event_bytes = static_cast<double>(counters.unread_bytes) / static_cast<double>(counters.unread);
    most = std::max(
        most, static_cast<std::uint64_t>(event_bytes * static_cast<double>(counters.unread + counters.lost) / seconds));
  }
  return most;
}

std::uint64_t choose_buffer_size(std::uint64_t bytes_a_second, std::uint64_t preferred, std::uint64_t most_bytes,
                                 unsigned cpus) {
  const std::uint64_t share = std::max(most_bytes / std::max(cpus, 1u), kFewestBytes);
  return std::min(std::max(bytes_a_second, preferred), share);
}

void size_buffers(const TracefsInstance& instance, std::uint64_t bytes_per_cpu) {
  try {
    instance.set("buffer_size_kb", fmt::format("{}", (bytes_per_cpu + 1023) / 1024));
  } catch (Error& error) {
    error.hint(fmt::format("{} per CPU may be more than the free memory: choose less with -b or --max-memory",
                           humane_bytes(bytes_per_cpu)));
    throw;
  }
  if (instance.has("buffer_percent")) instance.set("buffer_percent", kWakePercent);
}

}  // namespace kmt
