// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps what the recorder itself allocates out of the recording, by a filter in the kernel. Its frees stay, since
// others' objects are among them; those of its own find no allocation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kmt {

constexpr std::size_t kMostFilterBytes = 4000;  // the kernel takes less than a page, 4096 bytes at the least

// False in a PID namespace of a container: the kernel's filters go by numbers that are not known in there.
bool knows_kernel_pids();

// An event filter that drops what these threads do in task context. Interrupts that happen to run on top of them belong
// to the system and stay: common_flags has bits for hard interrupts (0x08), soft interrupts (0x10) and NMIs (0x40).
// Empty when it would not fit into the page that the kernel allows; the caller then uses set_event_notrace_pid, which
// drops those interrupts too.
std::optional<std::string> filter_without(const std::vector<pid_t>& threads);

}  // namespace kmt
