// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that read the buffers of CPUs. There is one thread per CPU, but on large machines a thread reads several
// CPUs. The threads have a high priority (nice -20), because reading late loses events. Without events, they use no CPU
// time.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace kmt {

class ReaderThreads {
 public:
  // Reads the buffers of the thread's CPUs once. The last round reads all remaining contents. An exception ends all
  // threads.
  using Read = std::function<void(std::size_t thread, bool is_last_round)>;

  // Distributes the CPUs (at least one) to threads. start() starts the threads.
  explicit ReaderThreads(std::vector<unsigned> cpus);
  ReaderThreads(const ReaderThreads&) = delete;
  ReaderThreads& operator=(const ReaderThreads&) = delete;
  ~ReaderThreads();

  const std::vector<unsigned>& cpus() const { return cpus_; }
  std::size_t size() const { return threads_.size(); }
  // Returns the indexes of a thread's CPUs in cpus().
  const std::vector<std::size_t>& cpus_of(std::size_t thread) const { return threads_[thread]->cpus; }

  // Starts the threads, which wait for begin(). Throws Error.
  void start(Read read);
  std::vector<pid_t> ids() const;  // IDs of the started threads
  void begin();
  // Returns when all threads have finished their last round.
  void end();

  bool failed() const { return failed_; }  // true if a thread has thrown an exception; all threads end then
  // Returns the message of the thread's exception; empty if there was none. Call it after end().
  const std::string& error_of(std::size_t thread) const { return threads_[thread]->error; }

 private:
  struct Thread {
    std::vector<std::size_t> cpus;
    std::atomic<pid_t> id = 0;
    std::string error;
    std::thread thread;
  };
  enum class Phase : int { waiting, reading, ending };

  void run(std::size_t index);

  std::vector<unsigned> cpus_;
  Read read_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::atomic<Phase> phase_ = Phase::waiting;
  std::atomic<bool> failed_ = false;
};

}  // namespace kmt
