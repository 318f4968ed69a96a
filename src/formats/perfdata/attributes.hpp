// SPDX-License-Identifier: GPL-2.0-or-later
// The recorded events. Each event has a perf_event_attr, and IDs by which records refer to it.
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
  std::uint64_t config = 0;  // number of the event within its type; for a tracepoint, its ID
  std::uint64_t period = 0;  // number of events per sample; if is_frequency is set, number of samples per second
  bool is_frequency = false;
  std::uint64_t sample_type = 0;     // SampleBits
  std::uint64_t read_format = 0;     // ReadBits
  std::uint64_t branch_type = 0;     // BranchBits
  std::uint64_t user_registers = 0;  // recorded user registers: one bit per register
  // True if only the command that perf runs is recorded, from its start on.
  bool enable_on_exec = false;
  bool ids_in_all = false;            // sample_id_all: true if all records have a time and an event ID
  bool defers_stacks = false;         // defer_callchain: user stacks are in records of their own
  std::optional<std::int32_t> clock;  // a clockid_t; empty means perf's own clock
  std::string name;                   // for example "kmem:kmalloc"; may be empty
};

// Parses a perf_event_attr. Throws Error if it is shorter than on any kernel.
Attribute parse_attribute(Bytes bytes, ByteOrder order, std::uint64_t offset);

class Attributes {
 public:
  // Adds an attribute with its IDs. If an ID is added twice, it belongs to the first attribute.
  void add(Attribute attribute, const std::vector<std::uint64_t>& ids);
  void name(std::uint64_t id, std::string_view name);
  void set_cpu(std::uint64_t id, std::uint32_t cpu) { *cpus_.insert(id).first = cpu; }

  bool empty() const { return all_.empty(); }
  const std::vector<Attribute>& all() const { return all_; }
  // Returns the index into all(), or nothing for an unknown ID.
  std::optional<std::uint32_t> of_id(std::uint64_t id) const;
  // Returns the CPU of the event with this ID, or nothing if the file does not have it.
  std::optional<std::uint32_t> cpu_of_id(std::uint64_t id) const;

 private:
  std::vector<Attribute> all_;
  FlatMap<std::uint32_t> indices_;
  FlatMap<std::uint32_t> cpus_;
};

// Returns the event's name in the file. If the file has no name, returns a text with the event's type and config
// numbers.
std::string name_of(const Attribute& attribute);

// Returns the name of the trace clock for a clockid_t.
std::string clock_name(std::optional<std::int32_t> clock);

}  // namespace kmt::perfdata
