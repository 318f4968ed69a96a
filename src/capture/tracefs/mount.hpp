// SPDX-License-Identifier: GPL-2.0-or-later
// Where tracefs is, and mounting it where it is not.
#pragma once

#include <string>

namespace kmt {

struct TracefsMount {
  std::string path;    // "/sys/kernel/tracing"; empty when it is not mounted
  std::string reason;  // when it is not mounted: why, or why it could not be
  bool mountable = false;
  bool is_refused = false;  // it is there and could be mounted, but not by this process
};

// Looks only; changes nothing but a debugfs automount, which the kernel does on being looked at.
TracefsMount find_tracefs();

// Mounts tracefs at /sys/kernel/tracing; throws Error (not permitted, not in this kernel).
TracefsMount mount_tracefs();

// The same, visible to this process only, so that looking leaves the machine as it was. The reason says why not.
TracefsMount mount_tracefs_privately();

// "confidentiality", "integrity", or empty when the kernel is not locked down.
std::string kernel_lockdown();

}  // namespace kmt
