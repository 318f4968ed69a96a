// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that read the rings of BPF programs, convert entries to records and pass the records to a sink. There is one
// thread per CPU; on large machines a thread reads several CPUs. Programs do not wake readers: the threads check the
// rings every few milliseconds. They have a high priority (nice -20), because reading late loses events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "capture/bpf/calls/layout.hpp"
#include "capture/bpf/calls/programs.hpp"
#include "capture/bpf/calls/tracing_frames.hpp"
#include "capture/bpf/record_programs.hpp"
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
  // Starts the threads. All arguments must outlive this object. `calls` is nullptr if no calls are recorded.
  RecordReaders(const RecordPrograms& programs, const CallRecorder* calls, const std::vector<unsigned>& cpus,
                std::optional<StackRecords> stacks, RecordingSink& sink);
  RecordReaders(const RecordReaders&) = delete;
  RecordReaders& operator=(const RecordReaders&) = delete;
  ~RecordReaders();

  bool failed() const { return failed_; }  // true if writing has failed; the readers have stopped then

  struct Counts {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;  // of entries
    std::uint64_t lost = 0;   // events lost because rings were full
  };
  Counts counts(std::size_t index) const;                                                       // counts of one CPU
  std::uint64_t not_taken(std::size_t index) const { return cpus_[index]->rings.not_taken(); }  // after finish()
  double fullest() const { return fullest_; }

  // Call it after the programs are detached. Reads the remaining entries and ends the threads. If writing has failed,
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
  struct Reader {
    std::vector<Cpu*> cpus;
    std::string error;
    std::thread thread;
  };

  void run(Reader& reader);
  void take(Cpu& cpu, bool rest);
  void add(Cpu& cpu, const kmt_entry& entry, const std::uint64_t* words);
  void flush(Cpu& cpu);
  void end_threads();

  const RecordPrograms& programs_;
  const CallRecorder* calls_;
  std::optional<StackRecords> stacks_;
  RecordingSink& sink_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::atomic<double> fullest_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> failed_ = false;
};

}  // namespace kmt
