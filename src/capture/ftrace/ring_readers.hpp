// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that read ring buffer pages from trace_pipe_raw. There is one thread per CPU; on large machines a thread
// reads several CPUs. splice(2) moves pages into files, from the kernel to the page cache without a copy in user space.
// Alternatively, pages are passed to a PageSink. The threads have a high priority (nice -20): they work only if there
// are events, and reading late loses events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/file.hpp"
#include "trace/page_sink.hpp"
#include "trace/raw_recording.hpp"

namespace kmt {

class RingReaders {
 public:
  // Opens the buffers of all CPUs and creates the threads, which wait for start(). Without a sink, each CPU has an
  // unnamed file in `scratch_directory`. Throws Error.
  RingReaders(const std::string& instance, std::uint32_t page_bytes, const std::string& scratch_directory,
              PageSink* sink);
  RingReaders(const RingReaders&) = delete;
  RingReaders& operator=(const RingReaders&) = delete;
  ~RingReaders();

  std::vector<pid_t> threads() const;
  void start();
  std::uint64_t bytes() const { return bytes_; }
  bool failed() const { return failed_; }  // true if writing has failed; the readers have stopped then

  // Call it when tracing is off. Reads the remaining pages, ends the threads and closes the buffers. Returns the pages,
  // unless a sink received them. If writing has failed, `error` receives the message.
  std::vector<RawCpu> finish(std::string& error);

 private:
  struct Cpu {
    RawCpu raw;
    FileDescriptor ring;                // per_cpu/cpuN/trace_pipe_raw
    std::vector<std::uint8_t> partial;  // a page that has been read but not written yet
  };
  struct Reader {
    std::vector<std::size_t> cpus;  // indexes into cpus_
    Cpu* in_pipe = nullptr;         // CPU whose pages are in the pipe
    std::size_t pipe_bytes = 0;
    FileDescriptor pipe_in;
    FileDescriptor pipe_out;
    std::vector<std::uint8_t> pages;  // pages to pass to the sink
    std::atomic<pid_t> tid = 0;
    std::string error;
    std::thread thread;
  };
  enum class Phase : int { waiting, reading, draining };

  void run(Reader& reader);
  void wait_for_pages(const Reader& reader) const;
  void open_files(const std::string& scratch_directory);
  void start_threads();
  void give_pages(Reader& reader, Cpu& cpu, bool all);
  bool read_page(const Cpu& cpu, std::uint8_t* page) const;
  bool move_full_pages(Reader& reader, Cpu& cpu);
  void empty_pipe(Reader& reader);
  void read_partial_pages(Cpu& cpu);
  static void write_partial_page(Cpu& cpu);
  void end_threads();

  std::uint32_t page_bytes_;
  PageSink* sink_;
  FileDescriptor reserve_;  // reserved disk space, so that the pipes' contents can be written when the disk is full
  std::vector<Cpu> cpus_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::atomic<Phase> phase_ = Phase::waiting;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<bool> failed_ = false;
};

}  // namespace kmt
