// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/tsc_scale.hpp"

#include <chrono>
#include <cstdint>
#include <thread>

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

namespace {

std::optional<ClockScale> scale_of_kernel() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.exclude_kernel = 1;
  const FileDescriptor event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event) return std::nullopt;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped = ::mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, event.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  const auto* const page = static_cast<const perf_event_mmap_page*>(mapped);
  std::optional<ClockScale> scale;
  if (page->cap_user_time != 0 && page->time_mult != 0) scale = ClockScale{page->time_mult, page->time_shift, 0};
  ::munmap(mapped, page_bytes);
  return scale;
}

#if defined(__x86_64__) || defined(__i386__)
// Measures the scale by counting cycles for a short time. This is needed if the kernel uses a hypervisor's clock,
// because the kernel then does not report the scale. The relative error is a few millionths at most.
std::optional<ClockScale> measured_scale() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::uint64_t start_ticks = __builtin_ia32_rdtsc();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::chrono::nanoseconds elapsed = Clock::now() - start;
  const std::uint64_t ticks = __builtin_ia32_rdtsc() - start_ticks;
  if (ticks == 0) return std::nullopt;
  constexpr std::uint32_t kShift = 24;
  const double mult = static_cast<double>(elapsed.count()) / static_cast<double>(ticks) * (1u << kShift);
  if (mult < 1 || mult > 4e9) return std::nullopt;
  return ClockScale{static_cast<std::uint32_t>(mult), kShift, 0};
}
#else
std::optional<ClockScale> measured_scale() { return std::nullopt; }
#endif

}  // namespace

std::optional<ClockScale> tsc_scale() {
  const auto scale = scale_of_kernel();
  return scale ? scale : measured_scale();
}

ClockScale scale_of_clock(const std::string& clock) {
  if (clock != "x86-tsc") return {};
  if (const auto scale = tsc_scale()) return *scale;
  throw Error("This kernel does not report the length of a cycle of the time stamp counter", ExitCode::unsupported)
      .hint("Choose another clock with --clock");
}

}  // namespace kmt
