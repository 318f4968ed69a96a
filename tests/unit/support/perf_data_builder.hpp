// SPDX-License-Identifier: GPL-2.0-or-later
// Builds perf.data by hand, in file and pipe mode, in any byte order and word size. Written from
// tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h, independently of the reader.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/byte_builder.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt::test {

using Octets = std::vector<std::uint8_t>;

constexpr std::uint64_t kIp = 1, kTid = 2, kTime = 4, kAddr = 8, kRead = 16, kCallchain = 32, kId = 64, kCpu = 128,
                        kPeriod = 256, kStreamId = 512, kRaw = 1024, kBranchStack = 2048, kUserRegisters = 4096,
                        kIdentifier = 1 << 16;
// The sample type that `perf record -e TRACEPOINT` uses.
constexpr std::uint64_t kUsual = kIp | kTid | kTime | kCpu | kPeriod | kRaw | kIdentifier;

struct PerfAttribute {
  std::uint64_t sample_type = kUsual;
  std::vector<std::uint64_t> ids = {1};
  std::uint32_t type = 2;  // tracepoint
  std::uint64_t config = kKmallocId;
  std::uint64_t period = 1;
  std::uint64_t read_format = 0;
  std::vector<unsigned> flags = {18};  // sample_id_all
  std::int32_t clock = 0;
  std::uint64_t branch_type = 0;
  std::uint64_t user_registers = 0;
};

struct PerfSample {
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
  Octets raw;
  std::uint64_t id = 1;
  std::vector<std::uint64_t> chain = {};
  std::vector<std::uint64_t> values = {};     // read with PERF_SAMPLE_READ
  std::vector<std::uint64_t> after_raw = {};  // branches, registers
};

class PerfData {
 public:
  explicit PerfData(Machine machine) : machine_(machine) {}

  std::vector<PerfAttribute> attributes = {{}};
  // Pairs of the number and the content of a feature, except the tracing data.
  std::vector<std::pair<unsigned, Octets>> features;
  bool with_tracing_data = true;

  // These functions add records, in the order in which they are called.
  PerfData& record(std::uint32_t type, std::uint16_t misc, const Octets& payload);
  PerfData& append(const Octets& bytes);  // adds the bytes unchanged
  PerfData& sample(const PerfSample& sample, const PerfAttribute& attribute);
  PerfData& sample(const PerfSample& sample_of_first) { return sample(sample_of_first, attributes.front()); }
  PerfData& round() { return record(68, 0, {}); }
  // Adds a record with the trailer that the first attribute requires.
  PerfData& kernel_record(std::uint32_t type, const Octets& payload, std::uint64_t time, std::uint32_t cpu,
                          std::uint64_t id = 1, std::uint16_t misc = 0);
  PerfData& lost(std::uint64_t count, std::uint64_t time, std::uint32_t cpu);
  PerfData& comm(std::int32_t process, std::int32_t task, const std::string& name, std::uint64_t time);
  PerfData& fork(std::int32_t process, std::int32_t task, std::int32_t parent, std::uint64_t time);
  // Compresses all records added so far into one zstd stream, and splits the stream into compressed records of `piece`
  // bytes.
  PerfData& compress(std::size_t piece, std::uint32_t type = 81);

  Octets file() const;
  Octets pipe() const;
  std::size_t data_offset() const;  // offset of the data section in file()
  std::size_t size() const { return records_.size(); }
  ByteBuilder bytes() const { return ByteBuilder(machine_); }
  Octets text(const std::string& value) const;  // a string in the format that features use

 private:
  Octets attribute_bytes(const PerfAttribute& attribute) const;
  Octets tracing_data() const;
  static void append_record(ByteBuilder& out, std::uint32_t type, std::uint16_t misc, const Octets& payload);

  Machine machine_;
  Octets records_;
};

}  // namespace kmt::test
