// SPDX-License-Identifier: GPL-2.0-or-later
// Wraps libbabeltrace2 (2.0) for this reader: one source.ctf.fs component per trace, and a sink with one message
// iterator per stream, so that each stream can be read on demand. Callers merge the streams: the buffer's order within
// a CPU holds, and nothing is copied.
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

// Returns libbabeltrace2's last failure in this thread as an Error whose text starts with `what`.
Error babeltrace_error(const std::string& what);

// Start and end of a trace's streams, if their packets have times.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
std::optional<TimeRange> time_range(const std::vector<std::string>& folders);

// Messages of one stream, released with the object.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() { reset(); }

  void reset();
  void assign(bt_message_array_const messages, std::size_t count);
  // Returns the next one, null after the last; valid until reset() or assign().
  const bt_message* next() { return next_ < messages_.size() ? messages_[next_++] : nullptr; }

 private:
  std::vector<const bt_message*> messages_;
  std::size_t next_ = 0;
};

class Graph {
 public:
  // Each element is one trace: the folders with its metadata and streams, several after a rotation. Throws Error.
  explicit Graph(const std::vector<std::vector<std::string>>& traces);
  ~Graph();
  Graph(Graph&&) noexcept;

  std::size_t streams() const;
  const std::vector<std::size_t>& empty_traces() const;  // without a stream
  // Replaces the messages by the stream's next ones; false at its end. Throws Error if the stream is damaged, which
  // must not be read again.
  bool read(std::size_t stream, Messages& messages);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt::ctf
