// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/symbols.hpp"

#include <algorithm>

#include "formats/kmt/layout.hpp"
#include "formats/kmt/payload.hpp"

namespace kmt::kmt_format {

std::vector<std::uint8_t> encode_symbols_head(const SymbolColumns& symbols) {
  Payload head;
  append_varint(head, symbols.digits);
  append_text(head, symbols.types);
  append_text(head, {reinterpret_cast<const char*>(symbols.addresses.data()), symbols.addresses.size()});
  append_varint(head, symbols.names.size());
  return head;
}

std::string decode_symbols(Bytes payload) {
  PayloadReader in(payload);
  const auto digits = static_cast<std::size_t>(std::min<std::uint64_t>(in.varint(), SymbolColumns::kMostDigits + 1));
  const std::string_view types = in.text();
  const std::string_view addresses = in.text();
  const std::string_view names = in.text();
  return text_of(digits, types, {reinterpret_cast<const std::uint8_t*>(addresses.data()), addresses.size()}, names,
                 kMostPlainBytes);
}

}  // namespace kmt::kmt_format
