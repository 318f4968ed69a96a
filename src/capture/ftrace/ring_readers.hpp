// SPDX-License-Identifier: GPL-2.0-or-later
// Reads ring buffer pages from trace_pipe_raw. splice(2) moves pages into files, from the kernel to the page cache
// without a copy in user space. Alternatively, pages are passed to a PageSink.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/file.hpp"
#include "capture/session/reader_threads.hpp"
#include "trace/page_sink.hpp"
#include "trace/raw_recording.hpp"

namespace kmt {

// Events before the first page of each CPU: none, or events that were overwritten. In a flight recorder, overwritten
// events do not count as lost.
enum class BeforeFirstPage : std::uint8_t { nothing, overwritten };

class RingReaders {
 public:
  // Opens the buffers of all CPUs and creates the threads, which wait for start(). Without a sink, each CPU has an
  // unnamed file in `scratch_directory`. Throws Error.
  RingReaders(const std::string& instance, std::uint32_t page_bytes, const std::string& scratch_directory,
              PageSink* sink, BeforeFirstPage oldest = BeforeFirstPage::nothing);
  RingReaders(const RingReaders&) = delete;
  RingReaders& operator=(const RingReaders&) = delete;

  std::vector<pid_t> threads() const { return threads_.ids(); }
  void start() { threads_.begin(); }
  std::uint64_t bytes() const { return bytes_; }
  bool failed() const { return threads_.failed(); }  // true if writing has failed; the readers have stopped then

  // Reads the remaining pages, ends the threads and closes the buffers. Returns the pages, unless a sink received them.
  // Call it when tracing is off. If writing has failed, `error` receives the message.
  std::vector<RawCpu> finish(std::string& error);

 private:
  struct Cpu {
    RawCpu raw;
    FileDescriptor ring;                // descriptor of per_cpu/cpuN/trace_pipe_raw
    std::vector<std::uint8_t> partial;  // a page that has been read but not written yet
  };
  struct Reader {
    Cpu* in_pipe = nullptr;  // CPU whose pages are in the pipe
    std::size_t pipe_bytes = 0;
    FileDescriptor pipe_in;
    FileDescriptor pipe_out;
    std::vector<std::uint8_t> pages;  // pages to pass to the sink
  };

  void read(std::size_t thread, bool is_last_round);
  void wait_for_pages(const std::vector<std::size_t>& cpus) const;
  void open_files(const std::string& scratch_directory);
  void give_pages(Reader& reader, Cpu& cpu, std::size_t most_rounds, bool all);
  bool read_page(const Cpu& cpu, std::uint8_t* page) const;
  bool move_full_pages(Reader& reader, Cpu& cpu);
  void empty_pipe(Reader& reader);
  void read_partial_pages(Cpu& cpu);
  static void write_partial_page(Cpu& cpu);

  std::uint32_t page_bytes_;
  PageSink* sink_;
  BeforeFirstPage oldest_;
  // Reserved disk space; freed when the disk is full, so that the contents of the pipes can still be written.
  FileDescriptor reserve_;
  FileDescriptor wake_;  // an eventfd; finish() sets it to wake up the threads that wait for pages
  std::vector<Cpu> cpus_;
  std::vector<Reader> readers_;  // one reader for each thread
  std::atomic<std::uint64_t> bytes_ = 0;
  ReaderThreads threads_;  // must be the last member, so that the threads end before other members are destroyed
};

}  // namespace kmt
