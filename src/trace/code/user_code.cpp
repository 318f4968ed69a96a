// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/user_code.hpp"

#include <fmt/format.h>

namespace kmt {

std::string UserName::symbol() const { return function.empty() ? fmt::format("{:#x}", offset) : function; }

std::string short_object_name(std::string_view path) {
  constexpr std::string_view kMade = "/tmp/perf-";
  constexpr std::string_view kMap = ".map";
  if (path.starts_with(kMade) && path.ends_with(kMap) && path.size() > kMade.size() + kMap.size())
    return fmt::format("[JIT] tid {}", path.substr(kMade.size(), path.size() - kMade.size() - kMap.size()));
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace kmt
