// SPDX-License-Identifier: GPL-2.0-or-later
// Finds tracefs, and mounts it.
#pragma once

#include <string>

namespace kmt {

struct TracefsMount {
  std::string path;    // path such as "/sys/kernel/tracing"; empty if tracefs is not mounted
  std::string reason;  // why tracefs is not mounted, or cannot be mounted
  bool mountable = false;
  bool is_refused = false;  // tracefs exists and could be mounted, but not by this process
};

// Does not mount anything itself, but may trigger the kernel's automount in debugfs.
TracefsMount find_tracefs();

// Mounts tracefs at /sys/kernel/tracing. Throws Error if this is not permitted or the kernel has no tracefs.
TracefsMount mount_tracefs();

// Mounts tracefs so that only this process sees it, and the machine does not change. Sets `reason` on failure.
TracefsMount mount_tracefs_privately();

// Returns "confidentiality" or "integrity"; empty if the kernel is not locked down.
std::string kernel_lockdown();

}  // namespace kmt
