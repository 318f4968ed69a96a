// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace to the end and shows a progress line. All commands that read whole traces use these functions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cli/support/interrupt.hpp"
#include "formats/registry.hpp"

namespace kmt {

// Shows a progress line on stderr if stderr is a terminal and the work takes longer than half a second.
class ReadingProgress {
 public:
  explicit ReadingProgress(bool wanted);
  ~ReadingProgress() { clear(); }
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  void update(const std::string& path, double part, std::uint64_t events);
  // Changes the line to "WHAT: 42 %".
  void update(std::string_view what, double part);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due();  // true if the line is to be shown now

  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

// Returns the name of the file that `record` writes by default. If this file does not exist, returns trace.dat. If
// kmemtraced wrote files into the current folder, returns the folder.
std::string default_trace();

// Works like open_trace(), but `-` means standard input. If the trace does not exist, the error explains how to record
// one.
std::unique_ptr<Source> open_for_reading(const std::string& path, const OpenOptions& options = {});

// Passes on the events of another source until the end of that source or Ctrl+C. Shows a progress line.
class WatchedSource : public Source {
 public:
  WatchedSource(Source& source, bool progress) : source_(source), line_(progress) {}

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }
  // Returns false if Ctrl+C stopped the reading before the end of the trace.
  bool complete() const { return !interrupted_; }

 private:
  Source& source_;
  InterruptGuard guard_;
  ReadingProgress line_;
  std::uint64_t events_ = 0;
  unsigned turn_ = 0;
  bool interrupted_ = false;
};

// Passes every batch to `sink`. Returns false if Ctrl+C stopped the reading before the end of the trace.
bool read_trace(Source& source, const std::function<void(const EventBatch&)>& sink, bool progress);

}  // namespace kmt
