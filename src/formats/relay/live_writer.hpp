// SPDX-License-Identifier: GPL-2.0-or-later
// Writes ring-buffer pages of the live kernel into relay files of layout v1, on the threads that read the pages.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/kernel_description.hpp"
#include "trace/page_sink.hpp"

namespace kmt::relay {

class LiveWriter : public PageSink {
 public:
  // Creates or empties cpuN.out of each CPU in the folder. Throws Error.
  LiveWriter(const std::string& folder, const KernelDescription& kernel, const std::vector<unsigned>& cpus);
  ~LiveWriter() override;

  void pages(unsigned cpu, Bytes pages) override;
  // Writes the rest after the last pages. Throws Error as pages() does, but the files still end with a whole record.
  void finish();

  std::uint64_t bytes() const { return bytes_; }
  // Number of failed allocations and frees of NULL, which the layout cannot have.
  std::uint64_t left_out() const { return left_out_; }
  std::uint64_t damaged_pages() const { return damaged_pages_; }

 private:
  struct Cpu;

  void encode(Cpu& cpu, Bytes page);
  void write(Cpu& cpu);

  std::vector<std::unique_ptr<Cpu>> cpus_;  // by number
  std::uint64_t page_bytes_;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> left_out_ = 0;
  std::atomic<std::uint64_t> damaged_pages_ = 0;
};

}  // namespace kmt::relay
