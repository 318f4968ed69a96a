// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/archive.hpp"

namespace kmt {

bool is_archive(Bytes bytes) {
  const auto begins = [bytes](std::string_view magic, std::size_t at = 0) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return at <= text.size() && text.substr(at).starts_with(magic);
  };
  constexpr std::size_t kTarMagic = 257;
  return begins("\x1f\x8b") ||
         begins(
             "\xfd"
             "7zXZ") ||
         begins("BZh") || begins("\x28\xb5\x2f\xfd") || begins("\x04\x22\x4d\x18") || begins("PK\x03\x04") ||
         begins("070701") || begins("ustar", kTarMagic);
}

}  // namespace kmt
