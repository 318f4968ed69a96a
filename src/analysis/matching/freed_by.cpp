// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/freed_by.hpp"

#include "trace/kernel_release.hpp"

namespace kmt {

bool kfree_takes_cache_objects(const std::string& release) {
  constexpr KernelVersion kFirst{6, 4};
  return version_of(release).value_or(kFirst) >= kFirst;
}

}  // namespace kmt
