// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// What the running kernel was built with, as /proc/config.gz or /boot/config-RELEASE tells; empty: neither is there.
std::optional<std::string> kernel_configuration();

// Whether a configuration has that option, built in or as a module: "KPROBE_EVENTS".
bool is_configured(std::string_view configuration, std::string_view option);

}  // namespace kmt
