// SPDX-License-Identifier: GPL-2.0-or-later
// Identifies a trace in a fleet by its bytes and by the options with which it was processed.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

// A 128-bit hash. If the same bytes are added in the same order, the ID is the same.
class TraceId {
 public:
  TraceId();
  TraceId(const TraceId&) = delete;
  TraceId& operator=(const TraceId&) = delete;
  ~TraceId();

  void add(Bytes bytes);
  void add(std::string_view text);
  std::string text() const;  // returns 32 hexadecimal digits

 private:
  void* state_;
};

}  // namespace kmt
