// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes ring-buffer pages or records into blocks during a recording. The functions run on the threads that read the
// pages.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/block_store.hpp"
#include "trace/kernel_description.hpp"
#include "trace/page_sink.hpp"
#include "trace/ring_page.hpp"

namespace kmt::kmt_format {

// Returns the streams of a recording: one per CPU, in the order of `cpus`.
std::vector<RecordStream> live_streams(const KernelDescription& kernel, const std::vector<unsigned>& cpus);

class LiveEncoder : public RecordingSink {
 public:
  // The store must outlive the encoder. Throws Error if the kernel's page description is unusable.
  LiveEncoder(const KernelDescription& kernel, const std::vector<unsigned>& cpus, BlockStore& store);

  // Encodes pages. Stores the CPU's block if it is full, if its first page is a second old, or if ask_for_blocks() was
  // called.
  void pages(unsigned cpu, Bytes pages) override;
  void records(unsigned cpu, std::span<const LiveRecord> records) override;
  // Requests that all started blocks are stored. Each is stored at the next call of pages() for its CPU. This call
  // follows soon, even if the CPU has no pages. May be called from any thread.
  void ask_for_blocks() { ++asked_; }
  // Stores the last blocks. Call this after the last pages. Throws Error like pages().
  void finish();

  std::uint64_t damaged_pages() const { return damaged_pages_; }
  bool saw_failed_allocation() const { return failed_allocation_; }

 private:
  struct Cpu {
    Cpu(unsigned number_, std::uint16_t stream_, const RecordLayouts& layouts)
        : number(number_), stream(stream_), encoder(layouts) {}
    unsigned number;
    std::uint16_t stream;
    BlockEncoder encoder;
    std::chrono::steady_clock::time_point begun;  // time of the block's first pages
    // Number of the latest ask_for_blocks() call after which this CPU's block was stored.
    unsigned answered = 0;
  };

  Cpu& cpu_of(unsigned number) const;
  // Calls `step` until it returns false. Meanwhile stores the block whenever it is full, old or requested.
  template <typename Step>
  void encode_all(Cpu& cpu, const Step& step);
  void encode(Cpu& cpu, Bytes page);
  void end_block(Cpu& cpu);

  PageLayout page_layout_;
  RecordLayouts layouts_;
  BlockStore& store_;
  std::vector<std::unique_ptr<Cpu>> cpus_;  // sorted by CPU number
  std::atomic<unsigned> asked_ = 0;
  std::atomic<std::uint64_t> damaged_pages_ = 0;
  std::atomic<bool> failed_allocation_ = false;
};

}  // namespace kmt::kmt_format
