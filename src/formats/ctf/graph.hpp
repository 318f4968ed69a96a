// SPDX-License-Identifier: GPL-2.0-or-later
// libbabeltrace2 (2.0) as this reader uses it: source.ctf.fs components, one a trace, and a sink of our own with a
// message iterator for each of their streams, so that each stream can be asked for its next messages. Streams are
// merged by whoever reads them: within a CPU the buffer's order holds then, and nothing is copied for it.
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

// What libbabeltrace2 says of its last failure in this thread, as an Error whose text begins with `what`.
Error babeltrace_error(const std::string& what);

// When the streams of a trace begin and end, where their packets say so.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
std::optional<TimeRange> time_range(const std::vector<std::string>& folders);

// Messages of one stream; they are let go of with the object.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() { reset(); }

  void reset();
  void assign(bt_message_array_const messages, std::size_t count);
  // The next one, null behind the last; valid until reset() or assign().
  const bt_message* next() { return next_ < messages_.size() ? messages_[next_++] : nullptr; }

 private:
  std::vector<const bt_message*> messages_;
  std::size_t next_ = 0;
};

class Graph {
 public:
  // Each element is one trace: the folders with its metadata and streams, several where it was rotated. Throws Error.
  explicit Graph(const std::vector<std::vector<std::string>>& traces);
  ~Graph();
  Graph(Graph&&) noexcept;

  std::size_t streams() const;
  // Replaces the messages by the stream's next ones; false at its end. Throws Error where the stream is damaged, and is
  // not to be asked for that stream again.
  bool read(std::size_t stream, Messages& messages);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt::ctf
