// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/mapping_events.hpp"

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
  return -1;  // the scheduler's, which is that of `local`, `global` and `perf`
}

}  // namespace

std::unique_ptr<MappingEvents> MappingEvents::open(unsigned cpu, const std::string& clock, std::string& why_not) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.build_id = 1;  // since Linux 5.12
  if (const int id = clock_id(clock); id >= 0) {
    attributes.use_clockid = 1;
    attributes.clockid = id;
  }
  const auto try_open = [&] {
    return FileDescriptor(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
  };
  FileDescriptor event = try_open();
  if (!event && errno == EINVAL) {
    attributes.build_id = 0;
    event = try_open();
  }
  why_not = event || errno == ENODEV ? "" : std::strerror(errno);
  if (!event) return nullptr;
  std::unique_ptr<MappingEvents> opened(
      new MappingEvents(std::move(event), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))));
  if (opened->mapped_ != MAP_FAILED) return opened;
  why_not = fmt::format("no memory for its buffer: {}", std::strerror(errno));
  return nullptr;
}

MappingEvents::MappingEvents(FileDescriptor event, std::size_t page_bytes)
    : event_(std::move(event)),
      page_bytes_(page_bytes),
      mapped_(::mmap(nullptr, page_bytes + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event_.get(), 0)) {}

MappingEvents::~MappingEvents() {
  if (mapped_ != MAP_FAILED) ::munmap(mapped_, page_bytes_ + kRingBytes);
}

}  // namespace kmt
