// SPDX-License-Identifier: GPL-2.0-or-later
// The note `unprobed_functions` of docs/formats/kmt.md: kernel functions that free or allocate objects without a
// tracepoint and that have no probe, with the reason.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trace/kernel_description.hpp"

namespace kmt {

constexpr std::string_view kProbesAreOff = "--no-probes";

// True if the kernel has the function. Also true if the kernel's symbols are unreadable.
bool has_function(const KernelDescription& kernel, std::string_view function);

// Notes that these functions have no probe.
void note_unprobed(KernelDescription& kernel, std::span<const std::string_view> functions, std::string_view reason);
// Notes that none of the kernel's functions has a probe.
void note_all_unprobed(KernelDescription& kernel, std::string_view reason);
// Notes the functions that have probes only on later kernels.
void note_old_functions(KernelDescription& kernel);

}  // namespace kmt
