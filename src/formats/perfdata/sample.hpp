// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the offsets of the fields in samples. The sample_type of an event selects the fields. Their order is that of
// perf_output_sample() and __perf_event__output_id_sample() in kernel/events/core.c (Linux 2.6.31 to 6.18).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/perfdata/attributes.hpp"

namespace kmt::perfdata {

struct Sample {
  std::uint64_t time_ns = 0;         // 0 if not in the sample
  std::optional<std::uint32_t> cpu;  // empty if not in the sample
  std::uint64_t ip = 0;              // the CPU's instruction pointer; 0 if not in the sample
  std::int32_t process = 0;          // 0 if not in the sample
  std::uint16_t mode = 0;            // mode of the CPU at `ip`: kCpuModeKernel, kCpuModeUser, …
  Bytes chain;                       // call chain: addresses of 8 bytes each
  std::uint64_t user_ip = 0;         // program counter from the user registers; 0 if not in the sample
  std::optional<Bytes> raw;          // record of a tracepoint; there may be padding at the end
};

// The layout of one event's samples.
class SampleLayout {
 public:
  // `machine` is as in uname(2). It determines which register is the program counter.
  SampleLayout(const Attribute& attribute, std::string_view machine);

  // Reads the payload of a sample. Returns false if it is too short for its fields.
  bool read(Bytes payload, ByteOrder order, Sample& sample) const;
  // Returns the event's ID, or nothing if the sample has none.
  std::optional<std::uint64_t> id(Bytes payload, ByteOrder order) const { return number(payload, id_at_, order); }

 private:
  static constexpr std::uint32_t kNone = ~0u;

  void read_user_registers(Bytes after_raw, ByteOrder order, Sample& sample) const;
  static std::optional<std::uint64_t> number(Bytes payload, std::uint32_t at, ByteOrder order) {
    if (at == kNone || payload.size() < at + std::uint64_t{8}) return std::nullopt;
    return load<std::uint64_t>(payload.data() + at, order);
  }

  bool has_read_ = false;
  bool has_chain_ = false;
  bool has_raw_ = false;
  bool has_branches_ = false;
  bool has_user_registers_ = false;
  std::optional<unsigned> ip_place_;  // index of the program counter among the recorded user registers
  std::uint64_t read_format_ = 0;
  std::uint64_t branch_type_ = 0;
  std::uint32_t id_at_ = kNone;  // offset in the payload, in bytes
  std::uint32_t ip_at_ = kNone;
  std::uint32_t process_at_ = kNone;
  std::uint32_t time_at_ = kNone;
  std::uint32_t cpu_at_ = kNone;
  std::uint32_t fixed_bytes_ = 0;  // size of the fields before those of variable size, in bytes
};

// Fields at the end of all records except samples. Present if sample_id_all is set.
struct Trailer {
  std::uint64_t time_ns = 0;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint64_t> id;
};

// Returns nothing if the payload is too short.
std::optional<Trailer> read_trailer(Bytes payload, std::uint64_t sample_type, ByteOrder order);

}  // namespace kmt::perfdata
