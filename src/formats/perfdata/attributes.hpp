// SPDX-License-Identifier: GPL-2.0-or-later
// The recorded events: a perf_event_attr each, and the IDs by which records name it.
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
  std::uint64_t config = 0;  // for a tracepoint its ID
  std::uint64_t period = 0;  // or a frequency
  bool is_frequency = false;
  std::uint64_t sample_type = 0;      // SampleBits
  std::uint64_t read_format = 0;      // ReadBits
  std::uint64_t branch_type = 0;      // BranchBits
  std::uint64_t user_registers = 0;   // a bit for each register in a sample
  bool enable_on_exec = false;        // starts with perf's command: nothing else is recorded
  bool ids_in_all = false;            // sample_id_all: records other than samples have time and origin too
  std::optional<std::int32_t> clock;  // clockid_t; empty: perf's own
  std::string name;                   // "kmem:kmalloc"; may be empty
};

// Throws Error if it is shorter than any kernel's.
Attribute parse_attribute(Bytes bytes, ByteOrder order, std::uint64_t offset);

class Attributes {
 public:
  // For a duplicate ID, the first attribute counts.
  void add(Attribute attribute, const std::vector<std::uint64_t>& ids);
  void name(std::uint64_t id, std::string_view name);
  void set_cpu(std::uint64_t id, std::uint32_t cpu) { *cpus_.insert(id).first = cpu; }

  bool empty() const { return all_.empty(); }
  const std::vector<Attribute>& all() const { return all_; }
  // Index into all(); empty for an unknown id.
  std::optional<std::uint32_t> of_id(std::uint64_t id) const;
  // Returns the CPU of the event with this ID, if the file has it.
  std::optional<std::uint32_t> cpu_of_id(std::uint64_t id) const;

 private:
  std::vector<Attribute> all_;
  FlatMap<std::uint32_t> indices_;
  FlatMap<std::uint32_t> cpus_;
};

// Returns perf's name or, if the file has none, the event's numbers.
std::string name_of(const Attribute& attribute);

// Returns the trace clock's name for a clockid_t.
std::string clock_name(std::optional<std::int32_t> clock);

}  // namespace kmt::perfdata
