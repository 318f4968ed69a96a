// SPDX-License-Identifier: GPL-2.0-or-later
// Wraps libbabeltrace2 (2.0). The graph has one source per trace (source.ctf.fs, or JsonTrace for CTF 2), and a sink
// with one message iterator per stream, so that each stream can be read on demand. Callers merge the streams, which
// keeps the order of each CPU's buffer and copies no message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "base/error.hpp"

namespace kmt::ctf {

// Returns the last libbabeltrace2 error of this thread, with `what` as the start of its text.
Error babeltrace_error(const std::string& what);

// The time from the start of the earliest stream to the end of the latest. time_range() returns nothing if packets have
// no times.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
std::optional<TimeRange> time_range(const std::vector<std::string>& folders);

// Owns messages of one stream.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() { reset(); }

  void reset();
  void assign(bt_message_array_const messages, std::size_t count);
  // Returns the next message, or null after the last one. The message is valid until reset() or assign().
  const bt_message* next() { return next_ < messages_.size() ? messages_[next_++] : nullptr; }

 private:
  std::vector<const bt_message*> messages_;
  std::size_t next_ = 0;
};

class Graph {
 public:
  // Each element is one trace: a list of folders with its metadata and streams. A rotated trace has several folders.
  // Throws Error.
  explicit Graph(const std::vector<std::vector<std::string>>& traces);
  ~Graph();
  Graph(Graph&&) noexcept;

  std::size_t streams() const;
  const std::vector<std::size_t>& empty_traces() const;  // indices of traces without streams
  // Replaces `messages` by the next messages of the stream. Returns false at the end of the stream. Throws Error if the
  // stream is damaged; the stream must then not be read again.
  bool read(std::size_t stream, Messages& messages);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt::ctf
