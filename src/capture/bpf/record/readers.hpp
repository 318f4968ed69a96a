// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the rings of BPF programs, converts entries to records, and passes the records to a sink. Programs do not wake
// readers: the threads check the rings every few milliseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/bpf/calls/layout.hpp"
#include "capture/bpf/calls/programs.hpp"
#include "capture/bpf/calls/tracing_frames.hpp"
#include "capture/bpf/record_programs.hpp"
#include "capture/session/reader_threads.hpp"
#include "trace/page_sink.hpp"

namespace kmt {

struct StackRecords {
  std::optional<StackLayout> kernel;  // empty if kernel stacks are not recorded
  std::optional<StackLayout> user;
  TracingFrames tracing;
};

struct CallRecorder {
  CallPrograms programs;
  CallLayout layout;
};

class RecordReaders {
 public:
  // Starts the threads, which wait for start(). All arguments must outlive this object. `calls` is nullptr if no calls
  // are recorded.
  RecordReaders(const RecordPrograms& programs, const CallRecorder* calls, const std::vector<unsigned>& cpus,
                std::optional<StackRecords> stacks, RecordingSink& sink);
  RecordReaders(const RecordReaders&) = delete;
  RecordReaders& operator=(const RecordReaders&) = delete;

  void start() { threads_.begin(); }
  bool failed() const { return threads_.failed(); }  // true if writing has failed; the readers have stopped then

  struct Counts {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;  // total size of the entries
    std::uint64_t lost = 0;   // number of events lost because rings were full
  };
  Counts counts(std::size_t index) const;  // counts of one CPU
  // call it after finish()
  std::uint64_t not_taken(std::size_t index) const { return cpus_[index]->rings.not_taken(); }
  double fullest() const { return fullest_; }

  // Reads the remaining entries and ends the threads. Call it after the programs are detached. If writing has failed,
  // `error` receives the message.
  void finish(std::string& error);

 private:
  struct Cpu {
    unsigned number;
    CpuRings rings;
    std::vector<std::uint8_t> bytes;  // contents of the records, contiguous
    std::size_t used = 0;
    std::vector<LiveRecord> records;
    std::atomic<std::uint64_t> given = 0;
    Cpu(unsigned number_, CpuRings rings_);
  };
  void read(std::size_t thread, bool is_last_round);
  void take(Cpu& cpu, bool rest);
  void add(Cpu& cpu, const kmt_entry& entry, const std::uint64_t* words);
  void flush(Cpu& cpu);

  const RecordPrograms& programs_;
  const CallRecorder* calls_;
  std::optional<StackRecords> stacks_;
  RecordingSink& sink_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  std::atomic<double> fullest_ = 0;
  ReaderThreads threads_;  // must be the last member, so that the threads end before other members are destroyed
};

}  // namespace kmt
