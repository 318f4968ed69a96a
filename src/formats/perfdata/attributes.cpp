// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/attributes.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

// Numbers of bit fields in perf_event_attr, starting at the lowest bit. On big-endian machines, compilers start at the
// highest bit.
constexpr unsigned kFrequencyBit = 10;
constexpr unsigned kEnableOnExecBit = 12;
constexpr unsigned kIdsInAllBit = 18;
constexpr unsigned kDeferCallchainBit = 38;
constexpr unsigned kUseClockBit = 25;
constexpr std::size_t kBranchTypeOffset = 72;     // present in attributes of at least 80 bytes
constexpr std::size_t kUserRegistersOffset = 80;  // present in attributes of at least 96 bytes
constexpr std::size_t kClockOffset = 92;          // present in attributes of at least 96 bytes

}  // namespace

Attribute parse_attribute(Bytes bytes, ByteOrder order, std::uint64_t offset) {
  if (bytes.size() < kLeastAttributeBytes)
    throw Error(fmt::format("An event's attributes have only {} bytes", bytes.size())).at({{}, {}, offset});
  ByteReader in(bytes, order, offset);
  Attribute attribute;
  attribute.type = in.u32();
  in.skip(4);  // perf_event_attr::size
  attribute.config = in.u64();
  attribute.period = in.u64();
  attribute.sample_type = in.u64();
  attribute.read_format = in.u64();
  const std::uint64_t flags = in.u64();
  const auto flag = [&](unsigned bit) { return (flags >> (order == ByteOrder::little ? bit : 63 - bit) & 1) != 0; };
  attribute.is_frequency = flag(kFrequencyBit);
  attribute.enable_on_exec = flag(kEnableOnExecBit);
  attribute.ids_in_all = flag(kIdsInAllBit);
  attribute.defers_stacks = flag(kDeferCallchainBit);
  const auto number_at = [&](std::size_t at) {
    return bytes.size() >= at + 8 ? load<std::uint64_t>(bytes.data() + at, order) : 0;
  };
  attribute.branch_type = number_at(kBranchTypeOffset);
  attribute.user_registers = number_at(kUserRegistersOffset);
  if (flag(kUseClockBit) && bytes.size() >= kClockOffset + 4)
    attribute.clock = static_cast<std::int32_t>(load<std::uint32_t>(bytes.data() + kClockOffset, order));
  return attribute;
}

void Attributes::add(Attribute attribute, const std::vector<std::uint64_t>& ids) {
  for (const std::uint64_t id : ids)
    if (const auto [index, inserted] = indices_.insert(id); inserted) *index = static_cast<std::uint32_t>(all_.size());
  all_.push_back(std::move(attribute));
}

void Attributes::name(std::uint64_t id, std::string_view name) {
  if (const auto index = of_id(id)) all_[*index].name = name;
}

std::optional<std::uint32_t> Attributes::of_id(std::uint64_t id) const {
  const std::uint32_t* const index = indices_.find(id);
  return index == nullptr ? std::nullopt : std::optional(*index);
}

std::optional<std::uint32_t> Attributes::cpu_of_id(std::uint64_t id) const {
  const std::uint32_t* const cpu = cpus_.find(id);
  return cpu == nullptr ? std::nullopt : std::optional(*cpu);
}

std::string name_of(const Attribute& attribute) {
  return attribute.name.empty() ? fmt::format("type {} config {:#x}", attribute.type, attribute.config)
                                : attribute.name;
}

std::string clock_name(std::optional<std::int32_t> clock) {
  if (!clock) return "perf";
  switch (*clock) {
    case 0: return "realtime";
    case 1: return "mono";
    case 4: return "mono_raw";
    case 7: return "boot";
    case 11: return "tai";
    default: return fmt::format("clock {}", *clock);
  }
}

}  // namespace kmt::perfdata
