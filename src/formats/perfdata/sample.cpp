// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/sample.hpp"

#include <algorithm>
#include <bit>

#include "base/arithmetic/size.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

// Returns the size of the values of PERF_SAMPLE_READ at `at`. Empty if they exceed the payload.
std::optional<std::uint64_t> bytes_of_values(Bytes payload, std::uint64_t at, std::uint64_t format, ByteOrder order) {
  const bool group = (format & ReadBits::kGroup) != 0;
  const auto times = static_cast<unsigned>(std::popcount(format & (ReadBits::kTimeEnabled | ReadBits::kTimeRunning)));
  const auto with_each = static_cast<unsigned>(std::popcount(format & (ReadBits::kId | ReadBits::kLost)));
  if (!group) return std::uint64_t{8} * (1 + times + with_each);
  if (payload.size() - at < 8) return std::nullopt;
  const auto events = load<std::uint64_t>(payload.data() + at, order);
  if (events > payload.size()) return std::nullopt;  // also prevents an overflow of the product below
  return 8 * (1 + times + events * (1 + with_each));
}

// Returns perf's number of the register that is the program counter (arch/*/include/uapi/asm/perf_regs.h, Linux 6.18).
std::optional<unsigned> ip_register(std::string_view machine) {
  if (machine == "x86_64" || (machine.starts_with('i') && machine.ends_with("86"))) return 8;
  if (machine == "aarch64" || machine.starts_with("ppc")) return 32;
  if (machine == "s390x") return 33;
  if (machine.starts_with("arm")) return 15;
  if (machine.starts_with("riscv") || machine.starts_with("loongarch")) return 0;
  return std::nullopt;
}

}  // namespace

SampleLayout::SampleLayout(const Attribute& attribute, std::string_view machine)
    : read_format_(attribute.read_format), branch_type_(attribute.branch_type) {
  using Bits = SampleBits;
  const std::uint64_t type = attribute.sample_type;
  const auto field = [&](std::uint64_t bit) {
    if ((type & bit) == 0) return kNone;
    fixed_bytes_ += 8;
    return fixed_bytes_ - 8;
  };
  const std::uint32_t identifier = field(Bits::kIdentifier);
  ip_at_ = field(Bits::kIp);
  process_at_ = field(Bits::kTid);
  time_at_ = field(Bits::kTime);
  field(Bits::kAddr);
  id_at_ = field(Bits::kId);
  if (identifier != kNone) id_at_ = identifier;
  field(Bits::kStreamId);
  cpu_at_ = field(Bits::kCpu);
  field(Bits::kPeriod);
  has_read_ = (type & Bits::kRead) != 0;
  has_chain_ = (type & Bits::kCallchain) != 0;
  has_raw_ = (type & Bits::kRaw) != 0;
  has_branches_ = (type & Bits::kBranchStack) != 0;
  has_user_registers_ = (type & Bits::kUserRegisters) != 0;
  const auto ip = ip_register(machine);
  if (ip && (attribute.user_registers >> *ip & 1) != 0)
    ip_place_ = static_cast<unsigned>(std::popcount(attribute.user_registers & ((std::uint64_t{1} << *ip) - 1)));
}

bool SampleLayout::read(Bytes payload, ByteOrder order, Sample& sample) const {
  if (payload.size() < fixed_bytes_) return false;
  sample = {};
  if (ip_at_ != kNone) sample.ip = load<std::uint64_t>(payload.data() + ip_at_, order);
  if (process_at_ != kNone)
    sample.process = static_cast<std::int32_t>(load<std::uint32_t>(payload.data() + process_at_, order));
  if (time_at_ != kNone) sample.time_ns = load<std::uint64_t>(payload.data() + time_at_, order);
  if (cpu_at_ != kNone) sample.cpu = load<std::uint32_t>(payload.data() + cpu_at_, order);
  std::uint64_t at = fixed_bytes_;
  if (has_read_) {
    const auto bytes = bytes_of_values(payload, at, read_format_, order);
    if (!bytes || *bytes > payload.size() - at) return false;
    at += *bytes;
  }
  if (has_chain_) {
    if (payload.size() - at < 8) return false;
    const auto addresses = load<std::uint64_t>(payload.data() + at, order);
    at += 8;
    if (addresses > (payload.size() - at) / 8) return false;
    sample.chain = payload.subspan(to_size(at), to_size(8 * addresses));
    at += 8 * addresses;
  }
  if (has_raw_) {
    if (payload.size() - at < 4) return false;
    const auto bytes = load<std::uint32_t>(payload.data() + at, order);
    at += 4;
    if (bytes > payload.size() - at) return false;
    sample.raw = payload.subspan(to_size(at), to_size(bytes));
    at += bytes;
  }
  if (has_user_registers_ && ip_place_) read_user_registers(payload.subspan(to_size(at)), order, sample);
  return true;
}

// Reads the program counter from the user registers. If the sample is too short for them, does not fail, because the
// other fields are complete.
void SampleLayout::read_user_registers(Bytes after_raw, ByteOrder order, Sample& sample) const {
  std::uint64_t at = 0;
  const auto next = [&]() -> std::uint64_t {
    if (at > after_raw.size() || after_raw.size() - at < 8) return 0;
    at += 8;
    return load<std::uint64_t>(after_raw.data() + at - 8, order);
  };
  if (has_branches_) {
    const std::uint64_t branches = std::min<std::uint64_t>(next(), after_raw.size());
    if ((branch_type_ & BranchBits::kHardwareIndex) != 0) at += 8;
    at += branches * ((branch_type_ & BranchBits::kCounters) != 0 ? 32 : 24);
  }
  if (next() == 0) return;  // PERF_SAMPLE_REGS_ABI_NONE: a kernel thread
  at += 8 * *ip_place_;
  sample.user_ip = next();
}

std::optional<Trailer> read_trailer(Bytes payload, std::uint64_t sample_type, ByteOrder order) {
  using Bits = SampleBits;
  constexpr std::uint64_t kAll =
      Bits::kTid | Bits::kTime | Bits::kId | Bits::kStreamId | Bits::kCpu | Bits::kIdentifier;
  const auto bytes = std::uint64_t{8} * static_cast<unsigned>(std::popcount(sample_type & kAll));
  if (bytes > payload.size()) return std::nullopt;
  ByteReader in(payload.subspan(to_size(payload.size() - bytes)), order);
  Trailer trailer;
  if ((sample_type & Bits::kTid) != 0) in.skip(8);
  if ((sample_type & Bits::kTime) != 0) trailer.time_ns = in.u64();
  if ((sample_type & Bits::kId) != 0) trailer.id = in.u64();
  if ((sample_type & Bits::kStreamId) != 0) in.skip(8);
  if ((sample_type & Bits::kCpu) != 0) {
    trailer.cpu = in.u32();
    in.skip(4);
  }
  if ((sample_type & Bits::kIdentifier) != 0) trailer.id = in.u64();
  return trailer;
}

}  // namespace kmt::perfdata
