// SPDX-License-Identifier: GPL-2.0-or-later
// Finds tracefs, and mounts it.
#pragma once

#include <string>

namespace kmt {

struct TracefsMount {
  std::string path;    // "/sys/kernel/tracing"; empty if it is not mounted
  std::string reason;  // why it is not mounted, or cannot be
  bool mountable = false;
  bool is_refused = false;  // it exists and could be mounted, but not by this process
};

// Only looks, but this may trigger the kernel's automount in debugfs.
TracefsMount find_tracefs();

// Mounts tracefs at /sys/kernel/tracing; throws Error (no permission, not in this kernel).
TracefsMount mount_tracefs();

// The same, visible to this process only, so that the machine does not change. The reason is set on failure.
TracefsMount mount_tracefs_privately();

// Returns "confidentiality", "integrity", or empty if the kernel is not locked down.
std::string kernel_lockdown();

}  // namespace kmt
