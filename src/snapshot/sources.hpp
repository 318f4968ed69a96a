// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's files that a snapshot is made of, and how to get those that are missing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kmt {

enum class SourceKind : std::uint8_t {
  file,
  slab_folder,    // /sys/kernel/slab
  slab_traces,    // a file of each cache's folder
  cgroups,        // memory.stat of each cgroup
  boot_messages,  // of the kernel's log what concerns percpu memory
};

struct SnapshotSource {
  std::string_view name;  // of the text in a snapshot, and of a copy in a folder
  std::string_view path;  // where the kernel has it
  SourceKind kind;
  std::string_view how;  // to get it, where the kernel does not have it
};

// In the order in which they are read: what is added up in one balance sheet is read together.
std::span<const SnapshotSource> snapshot_sources();

}  // namespace kmt
