// SPDX-License-Identifier: GPL-2.0-or-later
// What tells traces of a fleet apart: their bytes, and what was made of them.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

// Of 128 bits: the same bytes in the same order give the same.
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
