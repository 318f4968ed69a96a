// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes and decodes the kernel's symbols in a .kmt file: docs/formats/kmt.md, "Symbols (type 12)". In columns, the
// text of /proc/kallsyms takes half the space and half the time to compress.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt::kmt_format {

// The payload of the chunk consists of both parts. The names are large and need no copy, see make_text_chunk().
struct EncodedSymbols {
  std::vector<std::uint8_t> head;
  std::string names;
};
// Empty if the text does not have the form of /proc/kallsyms, and so would not be the same after decoding.
std::optional<EncodedSymbols> encode_symbols(std::string_view kallsyms);
// Returns the text of /proc/kallsyms, at most 64 MiB. Throws Error.
std::string decode_symbols(Bytes payload);

}  // namespace kmt::kmt_format
