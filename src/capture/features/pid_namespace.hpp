// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace kmt {

// False in the PID namespace of a container. Filters in the kernel use PIDs that are unknown in such a namespace.
bool knows_kernel_pids();

}  // namespace kmt
