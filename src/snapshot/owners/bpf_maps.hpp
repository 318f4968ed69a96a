// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/owners/lines.hpp"
#include "snapshot/owners/processes.hpp"

namespace kmt {

// Adds a line for each BPF map of the machine. Stops when the time of `lines` is over, and notes what was not read.
void read_bpf_maps(const HeldObjects& held, OwnerLines& lines);

}  // namespace kmt
