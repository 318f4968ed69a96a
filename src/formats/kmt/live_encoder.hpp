// SPDX-License-Identifier: GPL-2.0-or-later
// Ring-buffer pages, or records, into blocks while they are recorded, on the threads that read them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/ftrace/page.hpp"
#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/block_store.hpp"
#include "trace/kernel_description.hpp"
#include "trace/page_sink.hpp"

namespace kmt::kmt_format {

// The streams of a recording of these CPUs: one a CPU, numbered in this order.
std::vector<RecordStream> live_streams(const KernelDescription& kernel, const std::vector<unsigned>& cpus);

class LiveEncoder : public RecordingSink {
 public:
  // The store must outlive the encoder. Throws Error when the kernel's description of pages cannot be used.
  LiveEncoder(const KernelDescription& kernel, const std::vector<unsigned>& cpus, BlockStore& store);

  // A block is stored when it is full, a second after its first page came, or when it was asked for.
  void pages(unsigned cpu, Bytes pages) override;
  void records(unsigned cpu, std::span<const LiveRecord> records) override;
  // All blocks that have been begun are stored with the next pages of their CPUs (PageSink: they come soon, or none
  // come and that is said, too). From any thread.
  void ask_for_blocks() { ++asked_; }
  // The last blocks, when no more pages come. Throws Error as pages() does.
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
    std::chrono::steady_clock::time_point begun;  // when the block's first pages came
    unsigned answered = 0;                        // how often blocks had been asked for at the last one
  };

  Cpu& cpu_of(unsigned number) const;
  // Encodes step by step until `step` says that nothing is left, and stores what is due.
  template <typename Step>
  void encode_all(Cpu& cpu, const Step& step);
  void encode(Cpu& cpu, Bytes page);
  void end_block(Cpu& cpu);

  PageLayout page_layout_;
  RecordLayouts layouts_;
  BlockStore& store_;
  std::vector<std::unique_ptr<Cpu>> cpus_;  // by number, few of them
  std::atomic<unsigned> asked_ = 0;
  std::atomic<std::uint64_t> damaged_pages_ = 0;
  std::atomic<bool> failed_allocation_ = false;
};

}  // namespace kmt::kmt_format
