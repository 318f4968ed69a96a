// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the memory of a kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/endian.hpp"
#include "trace/state/slab_layout.hpp"

namespace kmt {

class KernelReader {
 public:
  virtual ~KernelReader() = default;
  // Fills all of `bytes`. Returns false if some of them cannot be read.
  virtual bool read(std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
  // Returns the address of frame 0 in the direct map of RAM. Empty if it is unknown.
  virtual std::optional<std::uint64_t> page_offset() const { return std::nullopt; }
};

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Reads with another reader, and limits the addresses and the number of bytes. After a read that exceeds the number of
// bytes, smaller reads fail too, so that callers stop.
class LimitedReader : public KernelReader {
 public:
  LimitedReader(std::unique_ptr<KernelReader> memory, std::uint64_t most_bytes)
      : memory_(std::move(memory)), most_bytes_(most_bytes) {}

  // From now on, reads only these addresses.
  void allow_only(std::vector<AddressRange> ranges) { allowed_ = std::move(ranges); }
  bool read(std::uint64_t address, std::span<std::uint8_t> bytes) override {
    if (allowed_ && std::ranges::none_of(*allowed_, [&](const AddressRange& range) {
          return range.begin <= address && address < range.end && bytes.size() <= range.end - address;
        }))
      return false;
    is_exhausted_ = is_exhausted_ || bytes.size() > most_bytes_ - bytes_read_;
    if (is_exhausted_ || !memory_->read(address, bytes)) return false;
    bytes_read_ += bytes.size();
    return true;
  }
  std::optional<std::uint64_t> page_offset() const override { return memory_->page_offset(); }
  std::uint64_t bytes_read() const { return bytes_read_; }
  bool is_exhausted() const { return is_exhausted_; }  // true if `most_bytes` prevented a read

 private:
  std::unique_ptr<KernelReader> memory_;
  std::optional<std::vector<AddressRange>> allowed_;  // empty: all addresses are allowed
  std::uint64_t most_bytes_;
  std::uint64_t bytes_read_ = 0;
  bool is_exhausted_ = false;
};

inline std::optional<std::uint64_t> read_word(KernelReader& memory, std::uint64_t address) {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  if (!memory.read(address, bytes)) return std::nullopt;
  return load<std::uint64_t>(bytes.data(), kHostOrder);
}

// Returns the value of a member. `structure` has the bytes of the structure, and `place` must be from the types of the
// same kernel. Empty if the bytes do not contain the member.
inline std::optional<std::uint64_t> member_in(std::span<const std::uint8_t> structure, const MemberPlace& place) {
  if (place.size == 0 || place.size > sizeof(std::uint64_t) || place.offset > structure.size() ||
      structure.size() - place.offset < place.size)
    return std::nullopt;
  const std::uint64_t value = load_sized(structure.data() + place.offset, place.size, kHostOrder);
  if (place.bits == 0) return value;
  if (place.bits >= 64 || place.bit + place.bits > 8 * place.size) return std::nullopt;
  return value >> place.bit & ((std::uint64_t{1} << place.bits) - 1);
}

}  // namespace kmt
