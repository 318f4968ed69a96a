// SPDX-License-Identifier: GPL-2.0-or-later
// Identifies traces of a fleet by their bytes and the options of their processing.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

// A 128-bit hash: the same bytes in the same order give the same ID.
class TraceId {
 public:
  TraceId();
  TraceId(const TraceId&) = delete;
  TraceId& operator=(const TraceId&) = delete;
  ~TraceId();

  void add(Bytes bytes);
  void add(std::string_view text);
  std::string text() const;  // 32 hex digits

 private:
  void* state_;
};

}  // namespace kmt
