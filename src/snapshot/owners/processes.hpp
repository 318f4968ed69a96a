// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what processes hold: pipes, rings of perf and io_uring, buffers of GPUs, sockets and BPF maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "snapshot/owners/lines.hpp"

namespace kmt {

struct HeldObjects {
  std::unordered_map<std::uint64_t, HolderProcess> sockets;   // first holder of each socket, by inode number
  std::unordered_map<std::uint64_t, HolderProcess> bpf_maps;  // first holder of each BPF map, by ID
  // For each network namespace, a process in it. The first is the namespace of this process, with the pid 0.
  std::vector<std::uint64_t> namespaces;
};

// Adds lines for objects of all processes. Stops when the time of `lines` is over, and notes what was not read.
HeldObjects read_processes(OwnerLines& lines);

// Returns the bytes of the mappings of perf events in a text of /proc/PID/maps.
std::uint64_t perf_bytes(std::string_view maps);
// Adds a line for a ring, from its text in /proc/PID/fdinfo.
void add_io_uring(std::string_view fdinfo, const HolderProcess& holder, OwnerLines& lines);
// Adds a line for each kind of memory of a GPU's client, from the text in /proc/PID/fdinfo.
void add_gpu_client(std::string_view fdinfo, const HolderProcess& holder, OwnerLines& lines);
// Returns a key that is equal for all descriptors of a GPU's client. Empty if the text has no client.
std::string gpu_client(std::string_view fdinfo);

}  // namespace kmt
