// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the kernel's files that a snapshot contains, and states how users can obtain missing files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kmt {

enum class SourceKind : std::uint8_t {
  file,
  slab_folder,    // the folder /sys/kernel/slab
  slab_traces,    // a file such as alloc_traces in the folder of each cache
  cgroups,        // memory.stat of all cgroups
  boot_messages,  // lines about percpu memory in the kernel's log
  owners,         // owners of memory in no counter, from many files and system calls
};

struct SnapshotSource {
  std::string_view name;  // name of the text in a snapshot, and of a copy of the file
  std::string_view path;  // path on a running system
  SourceKind kind;
  std::string_view how;  // how to make the kernel provide the file
};

// Returns the sources in the order in which they are read. Sources whose amounts are summed in one balance sheet are
// read shortly after each other.
std::span<const SnapshotSource> snapshot_sources();

}  // namespace kmt
