// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel tells perf of each mapping, fork and exec on a CPU: PERF_RECORD_MMAP2, FORK and COMM of an event that
// counts nothing (include/uapi/linux/perf_event.h, Linux 6.18).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "base/byte_reader.hpp"
#include "base/file.hpp"

namespace kmt {

class MappingEvents {
 public:
  // Null where there are none: `why_not` says it, nothing where the CPU is off line. Times are those of this trace
  // clock.
  static std::unique_ptr<MappingEvents> open(unsigned cpu, const std::string& clock, std::string& why_not);
  ~MappingEvents();
  MappingEvents(const MappingEvents&) = delete;
  MappingEvents& operator=(const MappingEvents&) = delete;

  // give(record, type, misc), in the order in which they were written.
  template <typename Give>
  void read(Give&& give) {
    auto* const control = static_cast<perf_event_mmap_page*>(mapped_);
    const std::uint8_t* const data = static_cast<const std::uint8_t*>(mapped_) + page_bytes_;
    const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
    std::uint64_t tail = control->data_tail;
    while (head - tail >= sizeof(perf_event_header)) {
      const auto copy = [&](void* to, std::uint64_t bytes) {
        for (std::uint64_t done = 0; done < bytes;) {
          const std::uint64_t at = (tail + done) % kRingBytes;
          const std::uint64_t part = std::min(bytes - done, kRingBytes - at);
          std::memcpy(static_cast<std::uint8_t*>(to) + done, data + at, part);
          done += part;
        }
      };
      perf_event_header header;
      copy(&header, sizeof header);
      if (header.size < sizeof header || header.size > head - tail) break;
      record_.resize(header.size);
      copy(record_.data(), header.size);
      tail += header.size;
      give(Bytes(record_).subspan(sizeof header), header.type, header.misc);
    }
    std::atomic_ref(control->data_tail).store(tail, std::memory_order_release);
  }

  std::uint64_t bytes() const { return page_bytes_ + kRingBytes; }  // of kernel memory

 private:
  static constexpr std::size_t kRingBytes = 512 << 10;  // a power of two

  MappingEvents(FileDescriptor event, std::size_t page_bytes);

  FileDescriptor event_;
  std::size_t page_bytes_;
  void* mapped_;
  std::vector<std::uint8_t> record_;
};

}  // namespace kmt
