// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/record_loop.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <sys/resource.h>

namespace kmt {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kProgressEvery{250};
constexpr int kMostOfTime = 100;  // looks use at most 1/100 of the time

}  // namespace

void add_own_cost(RecorderCost& cost) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  cost.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  cost.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

RecordEnd record_until_end(const RecordRequest& request, const std::function<bool()>& interrupted, HeldCommand* command,
                           const LoopHooks& hooks) {
  using namespace std::chrono_literals;
  const SteadyClock::time_point start = SteadyClock::now();
  SteadyClock::time_point next_progress = start;
  SteadyClock::time_point next_look = start;
  std::optional<SteadyClock::time_point> next_sample;
  if (request.sample_interval_ns && hooks.sample)
    next_sample = start + std::chrono::nanoseconds(*request.sample_interval_ns);
  for (;;) {
    if (interrupted()) return RecordEnd::interrupted;
    if (command != nullptr && command->poll()) return RecordEnd::command_ended;
    if (hooks.failed()) return RecordEnd::cannot_write;
    auto pause = std::chrono::nanoseconds(command != nullptr || hooks.look ? 10ms : 100ms);
    if (request.duration_ns) {
      const auto left = start + std::chrono::nanoseconds(*request.duration_ns) - SteadyClock::now();
      if (left <= 0ns) return RecordEnd::duration;
      pause = std::min(pause, std::chrono::nanoseconds(left));
    }
    if (next_sample) pause = std::clamp(std::chrono::nanoseconds(*next_sample - SteadyClock::now()), 0ns, pause);
    hooks.wait(pause);
    if (next_sample && SteadyClock::now() >= *next_sample) {
      hooks.sample();
      // Missed samples are not made up for, because reading the state takes locks of the kernel.
      *next_sample = std::max(*next_sample + std::chrono::nanoseconds(*request.sample_interval_ns), SteadyClock::now());
    }
    if (const SteadyClock::time_point begin = SteadyClock::now(); hooks.look && begin >= next_look) {
      hooks.look();
      next_look = begin + kMostOfTime * (SteadyClock::now() - begin);
    }
    if (SteadyClock::now() < next_progress) continue;
    next_progress = SteadyClock::now() + kProgressEvery;
    hooks.progress();
  }
}

void tell_user_memory(UserMemoryWatch& watch, KernelDescription& kernel, RecordOutcome& outcome) {
  kernel.user_memory = watch.memory();
  outcome.no_mappings_reason = watch.reason();
  outcome.lost_mappings = watch.lost_text();
  outcome.late_mappings = watch.late_text();
  outcome.unanswered_build_ids = watch.unanswered();
  const auto note = [&](const char* name, const std::string& text) {
    if (!text.empty()) kernel.late_notes[name] = text;
  };
  note("lost_mappings", outcome.lost_mappings);
  note("late_mappings", outcome.late_mappings);
  note("unanswered_build_ids", watch.unanswered_text());
}

}  // namespace kmt
