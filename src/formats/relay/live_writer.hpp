// SPDX-License-Identifier: GPL-2.0-or-later
// Writes ring-buffer pages of the running kernel into relay files of layout v1. The functions run on the threads that
// read the pages.
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
  // Creates cpuN.out for each CPU in the folder, or empties it. Throws Error.
  LiveWriter(const std::string& folder, const KernelDescription& kernel, const std::vector<unsigned>& cpus);
  ~LiveWriter() override;

  void pages(unsigned cpu, Bytes pages) override;
  // Writes the remaining data. Call this after the last pages. finish() and pages() throw Error if writing fails; the
  // files then still end with a complete record.
  void finish();

  std::uint64_t bytes() const { return bytes_; }
  // Returns the number of events that were dropped because the layout cannot store failed allocations and frees of
  // NULL.
  std::uint64_t omitted() const { return omitted_; }
  // Returns the number of dropped events that repeat the free of an object that was passed to kfree_rcu().
  std::uint64_t repeated_frees() const { return repeated_frees_; }
  std::uint64_t damaged_pages() const { return damaged_pages_; }

 private:
  struct Cpu;

  void encode(Cpu& cpu, Bytes page);
  void write(Cpu& cpu);

  std::vector<std::unique_ptr<Cpu>> cpus_;  // index: CPU number
  std::uint64_t page_bytes_;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> omitted_ = 0;
  std::atomic<std::uint64_t> repeated_frees_ = 0;
  std::atomic<std::uint64_t> damaged_pages_ = 0;
};

}  // namespace kmt::relay
