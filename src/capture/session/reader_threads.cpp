// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/reader_threads.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/thread.hpp"
#include "capture/high_priority_scope.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostThreads = 64;

}  // namespace

ReaderThreads::ReaderThreads(std::vector<unsigned> cpus) : cpus_(std::move(cpus)) {
  for (std::size_t i = 0; i < std::min(cpus_.size(), kMostThreads); ++i) {
    Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
    for (std::size_t cpu = i; cpu < cpus_.size(); cpu += kMostThreads) thread.cpus.push_back(cpu);
  }
}

ReaderThreads::~ReaderThreads() { end(); }

void ReaderThreads::start(Read read) {
  read_ = std::move(read);
  try {
    for (std::size_t i = 0; i < threads_.size(); ++i)
      threads_[i]->thread = start_thread(fmt::format("a reader thread for CPU {}", cpus_[i]), [this, i] { run(i); });
  } catch (const Error&) {
    end();
    throw;
  }
  for (const auto& thread : threads_) thread->id.wait(0);
}

std::vector<pid_t> ReaderThreads::ids() const {
  std::vector<pid_t> ids;
  for (const auto& thread : threads_) ids.push_back(thread->id);
  return ids;
}

void ReaderThreads::begin() {
  phase_ = Phase::reading;
  phase_.notify_all();
}

void ReaderThreads::end() {
  phase_ = Phase::ending;
  phase_.notify_all();
  for (const auto& thread : threads_)
    if (thread->thread.joinable()) thread->thread.join();
}

void ReaderThreads::run(std::size_t index) {
  const HighPriorityScope high_priority;
  Thread& thread = *threads_[index];
  thread.id = ::gettid();
  thread.id.notify_all();
  phase_.wait(Phase::waiting);
  try {
    for (bool is_last_round = false; !is_last_round && !failed_;) {
      is_last_round = phase_ == Phase::ending;
      read_(index, is_last_round);
    }
  } catch (const std::exception& error) {  // not only Error: memory may be exhausted (std::bad_alloc)
    thread.error = error.what();
    failed_ = true;
  }
}

}  // namespace kmt
