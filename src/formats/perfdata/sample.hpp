// SPDX-License-Identifier: GPL-2.0-or-later
// The offsets of a record's fields. An event's sample_type selects the fields; the order is the kernel's
// (kernel/events/core.c, perf_output_sample() and __perf_event__output_id_sample(); Linux 2.6.31 to 6.18).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/perfdata/attributes.hpp"

namespace kmt::perfdata {

struct Sample {
  std::uint64_t time_ns = 0;         // 0: not in the sample
  std::optional<std::uint32_t> cpu;  // likewise empty
  std::uint64_t ip = 0;              // the CPU's instruction pointer; 0 likewise
  std::int32_t process = 0;          // likewise
  std::uint16_t mode = 0;            // of the CPU at `ip`: kCpuModeKernel, kCpuModeUser, …
  Bytes chain;                       // addresses of the call chain, 8 bytes each
  std::uint64_t user_ip = 0;         // the program counter from the user's registers; 0: not in the sample
  std::optional<Bytes> raw;          // a tracepoint's record, maybe with padding at its end
};

// The layout of one event's samples.
class SampleLayout {
 public:
  // The machine, as in uname(2), determines which register is the program counter.
  SampleLayout(const Attribute& attribute, std::string_view machine);

  // Reads a sample's payload; false if it is shorter than its fields.
  bool read(Bytes payload, ByteOrder order, Sample& sample) const;
  // Returns the event's ID; empty if there is none.
  std::optional<std::uint64_t> id(Bytes payload, ByteOrder order) const { return number(payload, id_at_, order); }

 private:
  static constexpr std::uint32_t kNone = ~0u;

  void read_user_registers(Bytes behind_raw, ByteOrder order, Sample& sample) const;
  static std::optional<std::uint64_t> number(Bytes payload, std::uint32_t at, ByteOrder order) {
    if (at == kNone || payload.size() < at + std::uint64_t{8}) return std::nullopt;
    return load<std::uint64_t>(payload.data() + at, order);
  }

  bool has_read_ = false;
  bool has_chain_ = false;
  bool has_raw_ = false;
  bool has_branches_ = false;
  bool has_user_registers_ = false;
  std::optional<unsigned> ip_place_;  // among the user's registers that a sample has
  std::uint64_t read_format_ = 0;
  std::uint64_t branch_type_ = 0;
  std::uint32_t id_at_ = kNone;  // in the payload
  std::uint32_t ip_at_ = kNone;
  std::uint32_t process_at_ = kNone;
  std::uint32_t time_at_ = kNone;
  std::uint32_t cpu_at_ = kNone;
  std::uint32_t fixed_bytes_ = 0;  // before the fields of variable size
};

// The end of all records except samples, with sample_id_all.
struct Trailer {
  std::uint64_t time_ns = 0;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint64_t> id;
};

// Empty if the payload is too short.
std::optional<Trailer> read_trailer(Bytes payload, std::uint64_t sample_type, ByteOrder order);

}  // namespace kmt::perfdata
