// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/perf_events.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kmt {

namespace {

int clock_id(const std::string& clock) {
  if (clock == "mono") return CLOCK_MONOTONIC;
  if (clock == "mono_raw" || clock == "x86-tsc") return CLOCK_MONOTONIC_RAW;
  if (clock == "boot") return CLOCK_BOOTTIME;
  if (clock == "tai") return CLOCK_TAI;
  return -1;  // for the trace clocks `local`, `global` and `perf`: the scheduler's clock, which perf uses by default
}

}  // namespace

std::unique_ptr<PerfEvents> PerfEvents::open(perf_event_attr attributes, unsigned cpu, const std::string& clock,
                                             std::size_t ring_bytes, std::string& why_not) {
  attributes.size = sizeof attributes;
  if (const int id = clock_id(clock); id >= 0) {
    attributes.use_clockid = 1;
    attributes.clockid = id;
  }
  const auto try_open = [&] {
    return FileDescriptor(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
  };
  attributes.read_format = PERF_FORMAT_LOST;  // since Linux 6.0
  FileDescriptor event = try_open();
  if (!event && errno == EINVAL) {
    attributes.read_format = 0;
    event = try_open();
  }
  if (!event && errno == EINVAL) {
    attributes.build_id = 0;
    event = try_open();
  }
  why_not = event || errno == ENODEV ? "" : std::strerror(errno);
  if (!event) return nullptr;
  std::unique_ptr<PerfEvents> opened(
      new PerfEvents(std::move(event), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), ring_bytes));
  if (opened->mapped_ != MAP_FAILED) return opened;
  why_not = fmt::format("no memory for its buffer: {}", std::strerror(errno));
  return nullptr;
}

PerfEvents::PerfEvents(FileDescriptor event, std::size_t page_bytes, std::size_t ring_bytes)
    : event_(std::move(event)),
      page_bytes_(page_bytes),
      ring_bytes_(ring_bytes),
      mapped_(::mmap(nullptr, page_bytes + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event_.get(), 0)) {}

std::uint64_t PerfEvents::lost() const {
  std::uint64_t counted[2] = {};  // number of events, and number of lost events
  const bool is_known = ::read(event_.get(), counted, sizeof counted) == sizeof counted;
  return std::max(lost_, is_known ? counted[1] : 0);
}

PerfEvents::~PerfEvents() {
  if (mapped_ != MAP_FAILED) ::munmap(mapped_, page_bytes_ + ring_bytes_);
}

}  // namespace kmt
