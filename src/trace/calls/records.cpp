// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/calls/records.hpp"

#include <algorithm>

#include "base/arithmetic/size.hpp"

namespace kmt {

namespace {

// A record number is 1 + block * kBlockBytes + offset of the record in the block. A record consists of the number of
// registers (1 byte), the size of the values (2 bytes), the registers, and the values.
constexpr std::size_t kBlockBytes = std::size_t{128} << 10;
constexpr std::size_t kHeadBytes = 3;
constexpr std::size_t kMostRegisters = 255;
constexpr std::size_t kMostValueBytes = 65535;
static_assert(kHeadBytes + kMostRegisters * 8 + kMostValueBytes <= kBlockBytes);

}  // namespace

std::uint64_t CallRecords::add(std::span<const std::uint64_t> registers, Bytes values) {
  registers = registers.first(std::min(registers.size(), kMostRegisters));
  values = values.first(std::min(values.size(), kMostValueBytes));
  const std::size_t size = kHeadBytes + registers.size_bytes() + values.size();
  if (blocks_.empty() || blocks_.back().bytes.size() + size > kBlockBytes) {
    if (!blocks_.empty() && blocks_.back().in_use == 0) blocks_.back().bytes = std::vector<std::uint8_t>();
    blocks_.emplace_back().bytes.reserve(kBlockBytes);
  }
  Block& block = blocks_.back();
  const std::size_t begin = block.bytes.size();
  block.bytes.resize(begin + size);
  std::uint8_t* at = block.bytes.data() + begin;
  *at = static_cast<std::uint8_t>(registers.size());
  store(at + 1, static_cast<std::uint16_t>(values.size()), kHostOrder);
  at += kHeadBytes;
  std::ranges::copy(std::as_bytes(registers), reinterpret_cast<std::byte*>(at));
  std::ranges::copy(values, at + registers.size_bytes());
  ++block.in_use;
  return 1 + (blocks_.size() - 1) * kBlockBytes + begin;
}

CallRecord CallRecords::at(std::uint64_t number) const {
  const std::uint8_t* const at = blocks_[to_size((number - 1) / kBlockBytes)].bytes.data() + (number - 1) % kBlockBytes;
  CallRecord record;
  record.registers.resize(*at);
  const auto value_bytes = load<std::uint16_t>(at + 1, kHostOrder);
  for (std::size_t i = 0; i < record.registers.size(); ++i)
    record.registers[i] = load<std::uint64_t>(at + kHeadBytes + 8 * i, kHostOrder);
  const std::uint8_t* const values = at + kHeadBytes + record.registers.size() * 8;
  record.values.assign(values, values + value_bytes);
  return record;
}

void CallRecords::give_back(std::uint64_t number) {
  const std::size_t index = to_size((number - 1) / kBlockBytes);
  Block& block = blocks_[index];
  if (--block.in_use == 0 && index + 1 < blocks_.size()) block.bytes = std::vector<std::uint8_t>();
}

std::size_t CallRecords::held() const {
  std::size_t records = 0;
  for (const Block& block : blocks_) records += block.in_use;
  return records;
}

std::size_t CallRecords::bytes_held() const {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes.capacity();
  return bytes;
}

}  // namespace kmt
