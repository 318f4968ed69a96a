// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/kernel_symbols.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/file.hpp"
#include "trace/code/code_owner.hpp"

namespace kmt {

std::string running_module_directories() {
  utsname names{};
  if (::uname(&names) != 0) return {};
  const std::string folder = fmt::format("/lib/modules/{}", names.release);
  return module_directories(try_read_file(folder + "/modules.dep").value_or(""),
                            try_read_file("/proc/modules").value_or(""),
                            try_read_file(folder + "/modules.builtin").value_or(""));
}

}  // namespace kmt
