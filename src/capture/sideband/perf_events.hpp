// SPDX-License-Identifier: GPL-2.0-or-later
// Reads perf's records of one CPU from a mapped buffer (include/uapi/linux/perf_event.h, Linux 6.18).
#pragma once

#include <algorithm>
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

class PerfEvents {
 public:
  // Returns null on failure and sets `why_not` to the reason, or to "" if the CPU is offline. Times are in the trace
  // clock `clock`. `ring_bytes` is a power of two.
  static std::unique_ptr<PerfEvents> open(perf_event_attr attributes, unsigned cpu, const std::string& clock,
                                          std::size_t ring_bytes, std::string& why_not);
  ~PerfEvents();
  PerfEvents(const PerfEvents&) = delete;
  PerfEvents& operator=(const PerfEvents&) = delete;

  // Calls give(record, type, misc) for each record, in the order in which records were written. Skips records about
  // losses.
  template <typename Give>
  void read(Give&& give) {
    auto* const control = static_cast<perf_event_mmap_page*>(mapped_);
    const std::uint8_t* const data = static_cast<const std::uint8_t*>(mapped_) + page_bytes_;
    const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
    std::uint64_t tail = control->data_tail;
    while (head - tail >= sizeof(perf_event_header)) {
      const auto copy = [&](void* to, std::size_t bytes) {
        for (std::size_t done = 0; done < bytes;) {
          const auto at = static_cast<std::size_t>((tail + done) % ring_bytes_);
          const std::size_t part = std::min(bytes - done, ring_bytes_ - at);
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
      if (header.type == PERF_RECORD_LOST && header.size >= sizeof header + 16) {
        std::uint64_t lost = 0;
        std::memcpy(&lost, record_.data() + sizeof header + 8, sizeof lost);
        lost_ += lost;
        continue;
      }
      give(Bytes(record_).subspan(sizeof header), header.type, header.misc);
    }
    std::atomic_ref(control->data_tail).store(tail, std::memory_order_release);
  }

  // Returns how many records were lost because the buffer was full. Before Linux 6.0, the last losses are missing: the
  // kernel reports losses with the next record that fits.
  std::uint64_t lost() const;
  std::uint64_t bytes() const { return page_bytes_ + ring_bytes_; }  // bytes of kernel memory

 private:
  PerfEvents(FileDescriptor event, std::size_t page_bytes, std::size_t ring_bytes);

  FileDescriptor event_;
  std::size_t page_bytes_;
  std::size_t ring_bytes_;
  void* mapped_;
  std::vector<std::uint8_t> record_;
  std::uint64_t lost_ = 0;
};

}  // namespace kmt
