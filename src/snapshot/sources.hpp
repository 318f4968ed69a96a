// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the kernel's files that a snapshot contains, and how a user can obtain missing ones.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kmt {

enum class SourceKind : std::uint8_t {
  file,
  slab_folder,    // the folder /sys/kernel/slab
  slab_traces,    // one file in each cache's folder
  cgroups,        // memory.stat of all cgroups
  boot_messages,  // lines about percpu memory in the kernel's log
};

struct SnapshotSource {
  std::string_view name;  // name of the text in a snapshot, and of a copied file
  std::string_view path;  // path on a running system
  SourceKind kind;
  std::string_view how;  // how to obtain it if the kernel does not provide it
};

// Returns the sources in the order in which they are read. Sources that are added up in one balance are read close
// together.
std::span<const SnapshotSource> snapshot_sources();

}  // namespace kmt
