// SPDX-License-Identifier: GPL-2.0-or-later
// Builds sequences of bytes by hand, for a given byte order and word size.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/endian.hpp"

namespace kmt::test {

struct Machine {
  ByteOrder order = ByteOrder::little;
  unsigned long_bytes = 8;
};

class ByteBuilder {
 public:
  explicit ByteBuilder(Machine machine) : machine_(machine) {}

  ByteBuilder& u8(std::uint8_t value) { return put(value); }
  ByteBuilder& u16(std::uint16_t value) { return put(value); }
  ByteBuilder& u32(std::uint32_t value) { return put(value); }
  ByteBuilder& u64(std::uint64_t value) { return put(value); }
  ByteBuilder& word(std::uint64_t value) {
    return machine_.long_bytes == 4 ? put(static_cast<std::uint32_t>(value)) : put(value);
  }
  ByteBuilder& text(std::string_view value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  ByteBuilder& c_string(std::string_view value) { return text(value).u8(0); }
  ByteBuilder& bytes(const std::vector<std::uint8_t>& value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  ByteBuilder& pad_to(std::size_t size) {
    if (bytes_.size() < size) bytes_.resize(size);
    return *this;
  }
  ByteBuilder& align(std::size_t alignment) { return pad_to((bytes_.size() + alignment - 1) / alignment * alignment); }

  std::size_t size() const { return bytes_.size(); }
  const std::vector<std::uint8_t>& get() const { return bytes_; }
  Machine machine() const { return machine_; }

 private:
  template <typename T>
  ByteBuilder& put(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    store(bytes_.data() + bytes_.size() - sizeof(T), value, machine_.order);
    return *this;
  }

  Machine machine_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace kmt::test
