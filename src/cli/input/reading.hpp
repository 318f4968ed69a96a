// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace to its end, for every command that needs this.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cli/support/interrupt.hpp"
#include "formats/registry.hpp"

namespace kmt {

// Shows a line on stderr for work longer than half a second, if stderr is a terminal.
class ReadingProgress {
 public:
  explicit ReadingProgress(bool wanted);
  ~ReadingProgress() { clear(); }
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  void update(const std::string& path, double part, std::uint64_t events);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

// The default output of `record`; if it is missing, a trace.dat, or the folder if kmemtraced wrote there.
std::string default_trace();

// The file `-`. The first call reads all of it and keeps it for later calls.
TraceFile standard_input();

// open_trace(), with `-` for standard input, and a hint if no trace was recorded yet.
std::unique_ptr<Source> open_for_reading(const std::string& path, const OpenOptions& options = {});

// Another source, read to its end or to Ctrl+C, with a progress line.
class WatchedSource : public Source {
 public:
  WatchedSource(Source& source, bool progress) : source_(source), line_(progress) {}

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }
  // False if Ctrl+C ended it before the trace's end.
  bool complete() const { return !interrupted_; }

 private:
  Source& source_;
  InterruptGuard guard_;
  ReadingProgress line_;
  std::uint64_t events_ = 0;
  unsigned turn_ = 0;
  bool interrupted_ = false;
};

// Gives every batch to `sink`. False if Ctrl+C ended it before the trace's end.
bool read_trace(Source& source, const std::function<void(const EventBatch&)>& sink, bool progress);

}  // namespace kmt
