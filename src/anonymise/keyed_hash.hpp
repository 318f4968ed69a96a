// SPDX-License-Identifier: GPL-2.0-or-later
// Hashes that cannot be computed without a key. Only this file uses libsodium.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kmt {

using PseudonymKey = std::array<std::uint8_t, 16>;

// Returns a random key. It is stored nowhere, so pseudonyms of different traces cannot be compared.
PseudonymKey random_key();
// Derives a key from a secret of any length. Traces that are anonymised with the same secret can be compared.
PseudonymKey key_of(std::string_view secret);

// Returns the SipHash-2-4 of the text.
std::uint64_t keyed_hash(const PseudonymKey& key, std::string_view text);

}  // namespace kmt
