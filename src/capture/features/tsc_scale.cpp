// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/tsc_scale.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.hpp"

namespace kmt {

std::optional<ClockScale> tsc_scale() {
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

}  // namespace kmt
