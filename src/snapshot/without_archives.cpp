// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/archive.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

std::string each_member(const std::string& path, Bytes, const ArchiveLimits&,
                        const std::function<bool(std::string_view)>&,
                        const std::function<void(std::string_view, std::string&&)>&) {
  throw missing_part("read archives and compressed files", "libarchive-dev", "ARCHIVES").at({path, {}, {}});
}

}  // namespace kmt
