// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/reading.hpp"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "reading/standard_input.hpp"

namespace kmt {

using namespace std::chrono_literals;

ReadingProgress::ReadingProgress(bool wanted)
    : wanted_(wanted && ::isatty(STDERR_FILENO) == 1), next_(Clock::now() + 500ms) {}

bool ReadingProgress::is_due() {
  if (!wanted_) return false;
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + 100ms;
  shown_ = true;
  return true;
}

void ReadingProgress::update(const std::string& path, double part, std::uint64_t events) {
  if (!is_due()) return;
  fmt::print(stderr, "\r\x1b[KReading {}: {:.0f} %, {} events", printable(path), part * 100, humane_count(events));
  std::fflush(stderr);
}

void ReadingProgress::update(std::string_view what, double part) {
  if (!is_due()) return;
  fmt::print(stderr, "\r\x1b[K{}: {:.0f} %", what, part * 100);
  std::fflush(stderr);
}

void ReadingProgress::clear() {
  if (!shown_) return;
  shown_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string default_trace() {
  for (const char* const name : {"trace.kmt", "trace.dat"})
    if (::access(name, F_OK) == 0) return name;
  return ::access("cpu0.out", F_OK) == 0 ? "." : "trace.kmt";
}

std::unique_ptr<Source> open_for_reading(const std::string& path, const OpenOptions& options) {
  if (path == "-") {
    if (!options.more_files.empty())
      throw Error("Standard input (-) must be a whole trace and cannot be combined with other files");
    return open_trace(standard_input(), options);
  }
  try {
    return open_trace(path, options);
  } catch (Error& error) {
    if (error.hint().empty() && ::access(path.c_str(), F_OK) != 0)
      error.hint("Name a trace, or record one: `kmemtrace record` writes trace.kmt");
    throw;
  }
}

bool WatchedSource::read(EventBatch& batch) {
  if (guard_.interrupted()) interrupted_ = true;
  if (interrupted_ || !source_.read(batch)) return false;
  events_ += batch.size();
  if (turn_++ % 64 == 0) line_.update(source_.info().path, source_.progress(), events_);
  return true;
}

bool read_trace(Source& source, const std::function<void(const EventBatch&)>& sink, bool progress) {
  WatchedSource watched(source, progress);
  EventBatch batch;
  while (watched.read(batch)) sink(batch);
  return watched.complete();
}

}  // namespace kmt
