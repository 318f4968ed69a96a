// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a column of a block: docs/formats/kmt.md, "A block of events". Used in loops that take most of the time of
// reading a trace.
#pragma once

#include <cstdint>

#include "base/arithmetic/size.hpp"
#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "base/varint.hpp"

namespace kmt::kmt_format {

// Borrows the bytes. All functions throw Error if the column ends too early.
struct Column {
  const std::uint8_t* at = nullptr;
  const std::uint8_t* end = nullptr;

  // Handles varints of one or two bytes here, because nearly all are that short.
  std::uint64_t varint() {
    if (end - at >= 2) {
      if (at[0] < 0x80) return *at++;
      if (at[1] < 0x80) {
        at += 2;
        return (at[-2] & 0x7Fu) | std::uint64_t{at[-1]} << 7;
      }
    }
    const Varint read = long_varint(at, end);
    at = read.end;
    return read.value;
  }

  std::uint8_t byte() {
    if (at == end) throw_cut_off();
    return *at++;
  }

  Bytes bytes(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end - at)) throw_cut_off();
    const Bytes taken(at, to_size(count));
    at += count;
    return taken;
  }

  bool empty() const { return at == end; }

  [[noreturn]] static void throw_cut_off() { throw Error("A block's column ends too early"); }

 private:
  struct Varint {
    std::uint64_t value;
    const std::uint8_t* end;
  };
  // Returns the new position instead of changing it through a pointer, so that loops over a column can keep the
  // position in a register.
  [[gnu::noinline]] static Varint long_varint(const std::uint8_t* at, const std::uint8_t* end) {
    std::uint64_t value = 0;
    if (!read_varint(at, end, value)) throw_cut_off();
    return {value, at};
  }
};

}  // namespace kmt::kmt_format
