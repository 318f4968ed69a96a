// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// Returns the running kernel's configuration from /proc/config.gz or /boot/config-RELEASE; empty if neither exists.
std::optional<std::string> kernel_configuration();

// True if the configuration has an option such as "KPROBE_EVENTS", built in or as a module.
bool is_configured(std::string_view configuration, std::string_view option);

}  // namespace kmt
