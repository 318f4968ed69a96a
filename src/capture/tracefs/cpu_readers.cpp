// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/cpu_readers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <latch>

#include <fmt/format.h>

#include "capture/tracefs/scratch_file.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostThreads = 64;
constexpr int kPipeBytes = 1 << 20;
// A CPU that is offline has no buffer to wait for: how often to look whether it has come.
constexpr int kLookAgainMs = 500;
// Before Linux 5.10, poll(2) says that a buffer is ready when it holds anything, but splice(2) moves full pages only.
constexpr int kPartialPageMs = 20;
// So that a busy CPU's buffer does not keep a thread from the others it serves.
constexpr unsigned kMovesInARow = 32;

FileDescriptor open_event() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) throw system_error("Cannot create an eventfd", "");
  return event;
}

void raise(const FileDescriptor& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

}  // namespace

CpuReaders::CpuReaders(const std::string& instance_path, const std::vector<unsigned>& cpus,
                       const std::string& scratch_directory, std::uint32_t page_size)
    : scratch_directory_(scratch_directory),
      page_size_(page_size),
      stop_event_(open_event()),
      failed_event_(open_event()) {
  for (const unsigned cpu : cpus) {
    Stream stream;
    stream.cpu = cpu;
    stream.raw = open_file(fmt::format("{}/per_cpu/cpu{}/trace_pipe_raw", instance_path, cpu), O_RDONLY | O_NONBLOCK);
    stream.pages.cpu = cpu;
    stream.pages.file = open_scratch_file(scratch_directory);
    streams_.push_back(std::move(stream));
  }
  const std::size_t count = std::min(streams_.size(), kMostThreads);
  tasks_.resize(count);
  std::latch started(static_cast<std::ptrdiff_t>(count));
  try {
    for (std::size_t i = 0; i < count; ++i)
      threads_.emplace_back([this, i, &started] {
        tasks_[i] = ::gettid();
        started.count_down();
        run(i);
      });
  } catch (const std::system_error& cause) {
    stop_threads();
    throw Error(fmt::format("Cannot start the threads that read the buffers: {}", cause.what()));
  }
  started.wait();
}

CpuReaders::~CpuReaders() { stop_threads(); }

void CpuReaders::stop_threads() {
  stopping_ = true;
  raise(stop_event_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::optional<Error> CpuReaders::failure() {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

std::vector<CpuPages> CpuReaders::finish() {
  stop_threads();
  std::vector<CpuPages> pages;
  for (Stream& stream : streams_) pages.push_back(std::move(stream.pages));
  streams_.clear();
  return pages;
}

void CpuReaders::run(std::size_t thread) {
  ::prctl(PR_SET_NAME, fmt::format("kmemtrace/{}", thread).c_str());
  std::vector<Stream*> mine;
  for (std::size_t i = thread; i < streams_.size(); i += tasks_.size()) mine.push_back(&streams_[i]);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    for (Stream* stream : mine) give_up(*stream, system_error("Cannot create a pipe", ""));
    return;
  }
  const FileDescriptor out(ends[0]);
  const FileDescriptor in(ends[1]);
  ::fcntl(in.get(), F_SETPIPE_SZ, kPipeBytes);  // where it is not allowed, the pipe is smaller

  std::vector<bool> absent(mine.size(), false);
  while (!stopping_) {
    wait(mine, absent);
    bool moved = false;
    for (Stream* stream : mine)
      for (unsigned turn = 0; turn < kMovesInARow && move_full_pages(*stream, in.get(), out.get()); ++turn)
        moved = true;
    if (moved || stopping_) continue;
    pollfd stop{stop_event_.get(), POLLIN, 0};
    ::poll(&stop, 1, kPartialPageMs);
  }
  for (Stream* stream : mine) {
    while (move_full_pages(*stream, in.get(), out.get())) {
    }
    read_remainder(*stream);
  }
}

// Until a buffer has been filled to buffer_percent, the recording ends, or it is time to look at all CPUs again.
void CpuReaders::wait(const std::vector<Stream*>& mine, std::vector<bool>& absent) const {
  std::vector<pollfd> waiting = {{stop_event_.get(), POLLIN, 0}};
  for (std::size_t i = 0; i < mine.size(); ++i)
    waiting.push_back({absent[i] || mine[i]->given_up ? -1 : mine[i]->raw.get(), POLLIN, 0});
  const int ready = ::poll(waiting.data(), waiting.size(), kLookAgainMs);
  for (std::size_t i = 0; i < mine.size(); ++i)
    absent[i] = ready > 0 && (absent[i] || (waiting[i + 1].revents & POLLERR) != 0);
}

bool CpuReaders::move_full_pages(Stream& stream, int pipe_in, int pipe_out) {
  if (stream.given_up) return false;
  const ssize_t taken =
      ::splice(stream.raw.get(), nullptr, pipe_in, nullptr, kPipeBytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (taken <= 0) return false;  // nothing, or no full page, or an offline CPU
  auto left = static_cast<std::size_t>(taken);
  while (left > 0) {
    const ssize_t stored = ::splice(pipe_out, nullptr, stream.pages.file.get(), nullptr, left, SPLICE_F_MOVE);
    if (stored < 0 && errno == EINTR) continue;
    if (stored <= 0) {
      stream.pages.unstored += left;
      give_up(stream, system_error("Cannot store trace data", scratch_directory_));
      break;
    }
    left -= static_cast<std::size_t>(stored);
    stream.pages.bytes += static_cast<std::uint64_t>(stored);
    bytes_ += static_cast<std::uint64_t>(stored);
  }
  if (left == 0) return true;
  // What is still in the pipe belongs to nobody any more; the file shall end with a whole page.
  std::vector<char> rest(left);
  (void)!::read(pipe_out, rest.data(), rest.size());
  const std::uint64_t torn = stream.pages.bytes % page_size_;
  stream.pages.unstored += torn;
  stream.pages.bytes -= torn;
  (void)!::ftruncate(stream.pages.file.get(), static_cast<off_t>(stream.pages.bytes));
  return false;
}

void CpuReaders::read_remainder(Stream& stream) {
  std::vector<char> page(page_size_);
  while (!stream.given_up) {
    const ssize_t count = ::read(stream.raw.get(), page.data(), page.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    const auto size = static_cast<std::size_t>(count);
    std::fill(page.begin() + count, page.end(), '\0');
    try {
      write_all(stream.pages.file.get(), {page.data(), page.size()}, scratch_directory_);
    } catch (const Error& error) {
      stream.pages.unstored += size;
      (void)!::ftruncate(stream.pages.file.get(), static_cast<off_t>(stream.pages.bytes));
      return give_up(stream, error);
    }
    stream.pages.bytes += page.size();
    bytes_ += page.size();
  }
}

void CpuReaders::give_up(Stream& stream, const Error& error) {
  stream.given_up = true;
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = error;
  raise(failed_event_);
}

}  // namespace kmt
