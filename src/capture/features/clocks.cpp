// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/clocks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// In nanoseconds. If reading the clock takes longer, it costs more than all other work for an event.
constexpr unsigned kCheapNs = 400;

// Measures the time to read the monotonic clock. Returns the smallest of several measurements, to ignore interruptions.
unsigned monotonic_read_ns() {
  constexpr unsigned kRounds = 8;
  constexpr unsigned kReads = 256;
  std::uint64_t best = std::numeric_limits<std::uint32_t>::max();
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::uint64_t start = monotonic_ns();
    for (unsigned i = 0; i + 1 < kReads; ++i) monotonic_ns();
    best = std::min(best, (monotonic_ns() - start) / kReads);
  }
  return static_cast<unsigned>(best);
}

bool offers(const TraceClocks& clocks, std::string_view name) {
  return std::find(clocks.offered.begin(), clocks.offered.end(), name) != clocks.offered.end();
}

// Recommends a clock. "mono" reads the clocksource of the kernel's own time. The kernel disables a clocksource that
// differs between CPUs, so "mono" is ordered across CPUs. So only the cost of "mono" must be checked. "global" is
// always ordered, but all CPUs share a lock. "local" is a separate clock for each CPU.
void recommend(TraceClocks& clocks) {
  const std::string source =
      clocks.clocksource.empty() ? "an unknown clocksource" : "clocksource " + clocks.clocksource;
  const bool coarse = clocks.clocksource.find("jiffies") != std::string::npos;
  if (offers(clocks, "mono") && !coarse && clocks.read_ns <= kCheapNs) {
    clocks.recommended = "mono";
    clocks.reason =
        fmt::format("{} is ordered across CPUs and cheap on this machine: {} ns per reading", source, clocks.read_ns);
  } else if (offers(clocks, "global")) {
    clocks.recommended = "global";
    clocks.reason = fmt::format("ordered across CPUs; mono would {}",
                                !offers(clocks, "mono") ? "be better, but this kernel does not have it"
                                : coarse                ? fmt::format("be too coarse: it reads {}", source)
                                         : fmt::format("cost {} ns per reading of {}", clocks.read_ns, source));
  } else {
    clocks.recommended = clocks.current;
    clocks.reason = "this kernel has no clock that is known to be ordered across CPUs";
  }
}

}  // namespace

TraceClocks read_clocks(const std::string& tracefs) {
  TraceClocks clocks;
  clocks.text = read_file(tracefs + "/trace_clock");
  for (std::string_view word : split(trim(clocks.text), ' ')) {
    if (word.empty()) continue;
    const bool current = word.starts_with('[') && word.ends_with(']');
    if (current) word = word.substr(1, word.size() - 2);
    clocks.offered.emplace_back(word);
    if (current) clocks.current = word;
  }
  clocks.clocksource =
      trim(try_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or(""));
  clocks.read_ns = monotonic_read_ns();
  recommend(clocks);
  return clocks;
}

std::string describe_clock(const std::string& clock) {
  struct Text {
    std::string_view name;
    const char* text;
  };
  static constexpr std::array kTexts = {
      Text{"local", "separate for each CPU: cheapest, but may be out of order across CPUs"},
      Text{"global", "ordered across CPUs by a shared lock: more expensive"},
      Text{"counter", "a counter of events, not a time"},
      Text{"uptime", "jiffies since boot: a resolution of milliseconds at best"},
      Text{"perf", "the clock of perf, for comparison with its traces"},
      Text{"mono", "CLOCK_MONOTONIC: ordered across CPUs, adjusted by NTP"},
      Text{"mono_raw", "CLOCK_MONOTONIC_RAW: like mono, but not adjusted by NTP"},
      Text{"boot", "CLOCK_BOOTTIME: like mono, but also counts while suspended"},
      Text{"tai", "CLOCK_TAI: wall-clock time, which can be set"},
      Text{"x86-tsc", "raw TSC cycles, not nanoseconds"},
      Text{"ppc-tb", "raw timebase ticks, not nanoseconds"},
  };
  const auto* const found =
      std::find_if(kTexts.begin(), kTexts.end(), [&clock](const Text& text) { return text.name == clock; });
  return found == kTexts.end() ? std::string{} : found->text;
}

}  // namespace kmt
