// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/ring_readers.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "trace/ring_page.hpp"

namespace kmt {

namespace {

constexpr int kPipeBytes = 1 << 20;
// maximum number of pages to pass on at once; so many pages fit into a CPU's own cache
constexpr std::size_t kSinkPages = 64;
constexpr std::size_t kRoundsOfACpu = 64;
// A CPU's pages are read at least once per this interval, even if it has few events.
constexpr int kPollMilliseconds = 100;
// Pause after each round, for kernels that wake readers for every page (before Linux 6.1, poll(2) ignores
// buffer_percent).
constexpr std::chrono::milliseconds kPause{2};

// Clears the flags of lost events in the header of a page.
void clear_missed_events(std::uint8_t* page) {
  unsigned long commit = 0;
  std::memcpy(&commit, page + 8, sizeof commit);
  commit &= ~static_cast<unsigned long>(page_format::kMissedEvents | page_format::kMissedStored);
  std::memcpy(page + 8, &commit, sizeof commit);
}

}  // namespace

RingReaders::RingReaders(const std::string& instance, std::uint32_t page_bytes, const std::string& scratch_directory,
                         PageSink* sink, BeforeFirstPage oldest)
    : page_bytes_(page_bytes), sink_(sink), oldest_(oldest), threads_(ring_buffer_cpus(instance)) {
  raise_descriptor_limit();  // on large machines, the usual limit of open files is too low
  for (const unsigned cpu : threads_.cpus()) {
    Cpu& opened = cpus_.emplace_back();
    opened.raw.cpu = cpu;
    opened.ring = open_file(fmt::format("{}/per_cpu/cpu{}/trace_pipe_raw", instance, cpu), O_RDONLY | O_NONBLOCK);
  }
  wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!wake_) throw system_error("Cannot make an eventfd", "");
  readers_.resize(threads_.size());
  if (sink_ != nullptr)
    for (Reader& reader : readers_) reader.pages.resize(kSinkPages * page_bytes_);
  else
    open_files(scratch_directory);
  threads_.start([this](std::size_t thread, bool is_last_round) { read(thread, is_last_round); });
}

void RingReaders::open_files(const std::string& scratch_directory) {
  for (Cpu& cpu : cpus_) cpu.raw.pages = unnamed_file(scratch_directory);
  for (Reader& reader : readers_) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("Cannot make a pipe", "");
    reader.pipe_out = FileDescriptor(ends[0]);
    reader.pipe_in = FileDescriptor(ends[1]);
    ::fcntl(reader.pipe_in.get(), F_SETPIPE_SZ, kPipeBytes);  // if this fails, the pipe keeps the default size
  }
  reserve_ = unnamed_file(scratch_directory);
  const auto reserved = static_cast<off_t>(readers_.size()) * kPipeBytes;
  if (const int code = ::posix_fallocate(reserve_.get(), 0, reserved); code == ENOSPC || code == EDQUOT) {
    errno = code;
    throw system_error("Cannot start recording", scratch_directory);
  }
}

std::vector<RawCpu> RingReaders::finish(std::string& error) {
  ::eventfd_write(wake_.get(), 1);
  threads_.end();
  reserve_.reset();
  for (std::size_t thread = 0; thread < readers_.size(); ++thread) {
    if (threads_.error_of(thread).empty()) continue;
    error = threads_.error_of(thread);
    if (sink_ != nullptr) continue;
    // The pages in the pipe are no longer in the ring buffer, so a failure to write them must be reported.
    try {
      empty_pipe(readers_[thread]);
      for (const std::size_t cpu : threads_.cpus_of(thread)) write_partial_page(cpus_[cpu]);
    } catch (const Error& again) {
      error += fmt::format("; some pages that had been read are lost: {}", again.what());
    }
  }
  std::vector<RawCpu> recorded;
  for (Cpu& cpu : cpus_) {
    cpu.ring.reset();
    recorded.push_back(std::move(cpu.raw));
  }
  return recorded;
}

void RingReaders::read(std::size_t thread, bool is_last_round) {
  Reader& reader = readers_[thread];
  const std::vector<std::size_t>& cpus = threads_.cpus_of(thread);
  if (!is_last_round) wait_for_pages(cpus);
  for (const std::size_t cpu : cpus) {
    if (sink_ != nullptr) {
      // If a thread reads several CPUs, each CPU must have its turn.
      give_pages(reader, cpus_[cpu], cpus.size() > 1 && !is_last_round ? kRoundsOfACpu : ~std::size_t{0},
                 is_last_round);
      continue;
    }
    while (move_full_pages(reader, cpus_[cpu])) {
    }
    if (is_last_round) read_partial_pages(cpus_[cpu]);
  }
  if (!is_last_round) std::this_thread::sleep_for(kPause);
}

void RingReaders::wait_for_pages(const std::vector<std::size_t>& cpus) const {
  std::vector<pollfd> polled;
  polled.reserve(cpus.size() + 1);
  for (const std::size_t cpu : cpus) polled.push_back({cpus_[cpu].ring.get(), POLLIN, 0});
  polled.push_back({wake_.get(), POLLIN, 0});
  const int ready = ::poll(polled.data(), polled.size(), kPollMilliseconds);
  const bool any =
      std::any_of(polled.begin(), polled.end(), [](const pollfd& one) { return (one.revents & POLLIN) != 0; });
  // The buffer of an offline CPU only reports errors. Sleep, to avoid a busy loop.
  if (ready > 0 && !any) std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
}

// Moves pages from the ring buffer to the sink. The kernel is still writing a page that is less than half full, so this
// page is left for later unless `all` is set.
void RingReaders::give_pages(Reader& reader, Cpu& cpu, std::size_t most_rounds, bool all) {
  bool more = true;
  std::exception_ptr failure;
  for (std::size_t round = 0; more && round < most_rounds; ++round) {
    std::size_t filled = 0;
    while (more && filled < reader.pages.size()) {
      std::uint8_t* const page = reader.pages.data() + filled;
      try {
        more = read_page(cpu, page);
      } catch (const Error&) {
        failure = std::current_exception();  // pages that were already read must still reach the sink
        more = false;
      }
      if (!more) break;
      if (oldest_ == BeforeFirstPage::overwritten && cpu.raw.bytes + filled == 0) clear_missed_events(page);
      filled += page_bytes_;
      unsigned long commit = 0;  // at offset 8, after the time; see trace/ring_page.hpp
      std::memcpy(&commit, page + 8, sizeof commit);
      more = all || (commit & page_format::kCommitMask) >= page_bytes_ / 2;
    }
    bytes_ += filled;
    cpu.raw.bytes += filled;
    sink_->pages(cpu.raw.cpu, {reader.pages.data(), filled});
  }
  if (failure) std::rethrow_exception(failure);
}

// Returns false if there is no page.
bool RingReaders::read_page(const Cpu& cpu, std::uint8_t* page) const {
  for (;;) {
    const ssize_t got = ::read(cpu.ring.get(), page, page_bytes_);
    if (got < 0 && errno == EINTR) continue;
    // ENODEV means that the CPU was never online since the buffer was created.
    if (got < 0 && errno != EAGAIN && errno != ENODEV) throw system_error("Cannot read the ring buffer", "");
    if (got <= 0) return false;
    std::fill(page + got, page + page_bytes_, std::uint8_t{0});
    return true;
  }
}

// Moves pages from the ring buffer through the pipe to the file. splice(2) moves only full pages. Returns false if
// there are no full pages.
bool RingReaders::move_full_pages(Reader& reader, Cpu& cpu) {
  const ssize_t got =
      ::splice(cpu.ring.get(), nullptr, reader.pipe_in.get(), nullptr, kPipeBytes, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ENODEV)) return false;
  if (got < 0) throw system_error("Cannot read the ring buffer", "");
  reader.in_pipe = &cpu;
  reader.pipe_bytes = static_cast<std::size_t>(got);
  empty_pipe(reader);
  return got > 0;
}

void RingReaders::empty_pipe(Reader& reader) {
  while (reader.pipe_bytes > 0) {
    const ssize_t moved = ::splice(reader.pipe_out.get(), nullptr, reader.in_pipe->raw.pages.get(), nullptr,
                                   reader.pipe_bytes, SPLICE_F_MOVE);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) throw system_error("Cannot write recorded pages", "");
    reader.pipe_bytes -= static_cast<std::size_t>(moved);
    reader.in_pipe->raw.bytes += static_cast<std::uint64_t>(moved);
    bytes_ += static_cast<std::uint64_t>(moved);
  }
}

// Reads the partly filled page after tracing has stopped.
void RingReaders::read_partial_pages(Cpu& cpu) {
  for (;;) {
    cpu.partial.resize(page_bytes_);
    if (!read_page(cpu, cpu.partial.data())) return cpu.partial.clear();
    write_partial_page(cpu);
  }
}

void RingReaders::write_partial_page(Cpu& cpu) {
  if (cpu.partial.empty()) return;
  write_all(cpu.raw.pages.get(), {reinterpret_cast<const char*>(cpu.partial.data()), cpu.partial.size()}, "");
  cpu.raw.bytes += cpu.partial.size();
  cpu.partial.clear();
}

}  // namespace kmt
