// SPDX-License-Identifier: GPL-2.0-or-later
// Reading a trace to its end, as every command that reads one does.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cli/support/interrupt.hpp"
#include "formats/registry.hpp"

namespace kmt {

// A line on stderr for work that takes longer than half a second; nothing where stderr is no terminal.
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

// What `record` writes when it is told nothing; where that is not there a trace.dat, or the folder with what kmemtraced
// wrote.
std::string default_trace();

// What `-` names. All of it is read by the first call and kept: it may be asked for again.
TraceFile standard_input();

// open_trace(), of `-` from standard input, with a hint for whoever has no trace yet.
std::unique_ptr<Source> open_for_reading(const std::string& path, const OpenOptions& options = {});

// Another source, read to its end or to Ctrl+C, with a progress line.
class WatchedSource : public Source {
 public:
  WatchedSource(Source& source, bool progress) : source_(source), line_(progress) {}

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }
  // False when Ctrl+C ended it before the trace's end.
  bool complete() const { return !interrupted_; }

 private:
  Source& source_;
  InterruptGuard guard_;
  ReadingProgress line_;
  std::uint64_t events_ = 0;
  unsigned turn_ = 0;
  bool interrupted_ = false;
};

// Gives every batch to `sink`. False when Ctrl+C ended it before the trace's end.
bool read_trace(Source& source, const std::function<void(const EventBatch&)>& sink, bool progress);

}  // namespace kmt
