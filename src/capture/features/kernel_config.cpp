// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/kernel_config.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/file.hpp"
#include "base/gzip.hpp"
#include "base/text.hpp"

namespace kmt {

std::optional<std::string> kernel_configuration() {
  std::optional<std::string> text = try_read_gzip("/proc/config.gz");
  utsname names{};
  if (!text && ::uname(&names) == 0) text = try_read_file(fmt::format("/boot/config-{}", names.release));
  return text;
}

bool is_configured(std::string_view configuration, std::string_view option) {
  const std::string wanted = fmt::format("CONFIG_{}=", option);
  const std::vector<std::string_view> lines = split(configuration, '\n');
  return std::ranges::any_of(lines, [&](std::string_view line) { return line.starts_with(wanted); });
}

}  // namespace kmt
