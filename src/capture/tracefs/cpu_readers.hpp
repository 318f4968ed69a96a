// SPDX-License-Identifier: GPL-2.0-or-later
// Moves the ring buffers' pages into one scratch file a CPU while recording, by splice(2): no copy through user space
// but for the last, partly filled page of each CPU.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

struct CpuPages {
  unsigned cpu = 0;
  FileDescriptor file;         // whole pages, from its start
  std::uint64_t bytes = 0;     // in the file
  std::uint64_t unstored = 0;  // bytes taken from the kernel that the file system refused
};

class CpuReaders {
 public:
  // Opens the buffers of `cpus` in the instance and starts the threads: one a CPU, at most 64. Throws Error.
  CpuReaders(const std::string& instance_path, const std::vector<unsigned>& cpus, const std::string& scratch_directory,
             std::uint32_t page_size);
  CpuReaders(const CpuReaders&) = delete;
  CpuReaders& operator=(const CpuReaders&) = delete;
  ~CpuReaders();

  const std::vector<pid_t>& tasks() const { return tasks_; }  // kernel ids of the threads
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Readable when a thread could not go on; failure() tells why.
  int failure_fd() const { return failed_event_.get(); }
  std::optional<Error> failure();

  // When tracing is off: stores what is left in the buffers, ends the threads, closes the buffers.
  std::vector<CpuPages> finish();

 private:
  struct Stream {
    unsigned cpu = 0;
    FileDescriptor raw;  // trace_pipe_raw
    CpuPages pages;
    bool given_up = false;
  };

  void run(std::size_t thread);
  void wait(const std::vector<Stream*>& mine, std::vector<bool>& absent) const;
  bool move_full_pages(Stream& stream, int pipe_in, int pipe_out);
  void read_remainder(Stream& stream);
  void give_up(Stream& stream, const Error& error);
  void stop_threads();

  std::string scratch_directory_;
  std::uint32_t page_size_;
  std::vector<Stream> streams_;
  std::vector<std::thread> threads_;
  std::vector<pid_t> tasks_;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<bool> stopping_ = false;
  FileDescriptor stop_event_;
  FileDescriptor failed_event_;
  std::mutex failure_mutex_;
  std::optional<Error> failure_;
};

}  // namespace kmt
