// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/row_binary.hpp"

#include <algorithm>

#include "base/endian.hpp"

namespace kmt {

void RowBinary::store(const void* value, std::size_t size) {
  bytes_.append(static_cast<const char*>(value), size);
  if (kHostOrder == ByteOrder::big) std::reverse(bytes_.end() - static_cast<std::ptrdiff_t>(size), bytes_.end());
}

RowBinary& RowBinary::length(std::uint64_t elements) {
  for (; elements >= 0x80; elements >>= 7) bytes_ += static_cast<char>(0x80 | (elements & 0x7f));
  bytes_ += static_cast<char>(elements);
  return *this;
}

RowBinary& RowBinary::text(std::string_view text) {
  length(text.size());
  bytes_ += text;
  return *this;
}

}  // namespace kmt
