// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/freed_by.hpp"

#include <charconv>

namespace kmt {

bool kfree_takes_cache_objects(const std::string& release) {
  unsigned major = 0;
  unsigned minor = 0;
  const char* const end = release.data() + release.size();
  const auto [dot, major_code] = std::from_chars(release.data(), end, major);
  if (major_code != std::errc{} || dot == end || *dot != '.') return true;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc{}) return true;
  return major > 6 || (major == 6 && minor >= 4);
}

}  // namespace kmt
