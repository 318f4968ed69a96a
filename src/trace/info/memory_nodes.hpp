// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the NUMA node of allocated memory. docs/numa.md explains what is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"
#include "trace/event.hpp"
#include "trace/info/machine.hpp"
#include "trace/info/recording.hpp"

namespace kmt {

class MemoryNodes {
 public:
  // Uses the notes `memory_nodes` and `direct_map`, and zoneinfo in the samples.
  MemoryNodes(const TraceMachine& machine, const TraceRecording& recording);

  // Returns the node of the memory that an event allocates. Empty if the node is unknown, or if the allocation failed.
  std::optional<unsigned> node_of(const Event& allocation) const;

 private:
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;  // exclusive
    std::uint64_t to = 0;   // for page frames: the node; for addresses: the physical address of `first`
  };
  static const Range* range_with(const std::vector<Range>& ranges, std::uint64_t number);
  static std::vector<Range> without_overlaps(const std::vector<Range>& ranges);
  void read_nodes(std::string_view note);
  void read_direct_map(std::string_view note);

  std::uint64_t page_size_;
  bool has_frames_;                    // page events contain page frame numbers
  std::optional<unsigned> only_node_;  // set if all memory is on this node
  std::vector<Range> frames_;          // sorted and disjoint
  std::vector<Range> direct_map_;      // sorted and disjoint
};

// Return the notes of these names, which docs/formats/kmt.md describes. `zoneinfo` is the text of /proc/zoneinfo.
// `headers` is the start of /proc/kcore with its program headers; the result is empty if the headers lack physical
// addresses, as before Linux 4.11.
std::string memory_nodes_note(std::string_view zoneinfo);
std::string direct_map_note(Bytes headers);

}  // namespace kmt
