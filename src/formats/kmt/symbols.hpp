// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes and decodes the kernel's symbols in a .kmt file: docs/formats/kmt.md, "Symbols (type 12)". In columns, the
// text of /proc/kallsyms takes half the space and half the time to compress.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "trace/code/kallsyms_text.hpp"

namespace kmt::kmt_format {

// Returns the start of the chunk's payload. The names follow. They are large and need no copy, see make_text_chunk().
std::vector<std::uint8_t> encode_symbols_head(const SymbolColumns& symbols);
// Returns the text of /proc/kallsyms, at most 64 MiB. Throws Error.
std::string decode_symbols(Bytes payload);

}  // namespace kmt::kmt_format
