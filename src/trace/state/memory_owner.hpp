// SPDX-License-Identifier: GPL-2.0-or-later
// Owners of kernel memory that the kernel names, mostly of pages in no counter. docs/owners.md lists the kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

enum class OwnerKind : std::uint8_t {
  page_pool,
  ftrace,
  perf,
  packet_ring,
  xdp,
  io_uring,
  pipe,
  socket,
  bpf_map,
  dma_buf,
  gpu
};
inline constexpr std::size_t kOwnerKinds = 11;

enum class OwnerExactness : std::uint8_t { exact, estimate, upper_bound };

// The line of the balance sheet that has the memory.
enum class OwnerPlace : std::uint8_t {
  unaccounted,
  partly_unaccounted,  // an unknown part of the memory is slab memory, or belongs to another line
  counted_kernel,      // slab, vmalloc or percpu memory
  user,                // memory of processes, or shared memory
  device,              // memory of a device, which is not in MemTotal
};

struct MemoryOwner {
  OwnerKind kind = OwnerKind::pipe;
  std::string name;         // process, device, instance or map: "bash (pid 12)"
  std::uint64_t bytes = 0;  // of all `count` objects
  std::uint64_t count = 1;  // number of objects: pipes, sockets, rings
  OwnerExactness exactness = OwnerExactness::exact;
  OwnerPlace place = OwnerPlace::unaccounted;
};

// Returns the bytes of the owners whose memory is unaccounted.
inline std::uint64_t unaccounted_bytes(const std::vector<MemoryOwner>& owners) {
  std::uint64_t sum = 0;
  for (const MemoryOwner& owner : owners)
    if (owner.place == OwnerPlace::unaccounted) sum += owner.bytes;
  return sum;
}

}  // namespace kmt
