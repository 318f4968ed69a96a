// SPDX-License-Identifier: GPL-2.0-or-later
// What was recorded: perf_event_attr, one an event, and the ids by which records name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/flat_map.hpp"

namespace kmt::perfdata {

struct Attribute {
  std::uint32_t type = 0;
  std::uint64_t config = 0;  // of a tracepoint its id
  std::uint64_t period = 0;  // or a frequency
  bool is_frequency = false;
  std::uint64_t sample_type = 0;     // SampleBits
  std::uint64_t read_format = 0;     // ReadBits
  std::uint64_t branch_type = 0;     // BranchBits
  std::uint64_t user_registers = 0;  // a bit for each that a sample has
  bool enable_on_exec = false;       // begins with the command that perf runs: nothing else is recorded
  bool ids_in_all = false;           // sample_id_all: records that are no samples say when and where they come from too
  std::optional<std::int32_t> clock;  // clockid_t; empty: perf's own
  std::string name;                   // "kmem:kmalloc"; empty where the file does not say
};

// Throws Error when it is shorter than any kernel's.
Attribute parse_attribute(Bytes bytes, ByteOrder order, std::uint64_t offset);

class Attributes {
 public:
  // Of ids, the first counts.
  void add(Attribute attribute, const std::vector<std::uint64_t>& ids);
  void name(std::uint64_t id, std::string_view name);
  void set_cpu(std::uint64_t id, std::uint32_t cpu) { *cpus_.insert(id).first = cpu; }

  bool empty() const { return all_.empty(); }
  const std::vector<Attribute>& all() const { return all_; }
  // Index into all(); empty for an unknown id.
  std::optional<std::uint32_t> of_id(std::uint64_t id) const;
  // The CPU whose event has the id, where the file says it.
  std::optional<std::uint32_t> cpu_of_id(std::uint64_t id) const;

 private:
  std::vector<Attribute> all_;
  FlatMap<std::uint32_t> indices_;
  FlatMap<std::uint32_t> cpus_;
};

// As perf or, where the file says no name, its numbers.
std::string name_of(const Attribute& attribute);

// What the kernel calls the trace clock that clockid_t names.
std::string clock_name(std::optional<std::int32_t> clock);

}  // namespace kmt::perfdata
