// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/keyed_hash.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

namespace {

Error missing() { return missing_part("anonymise traces", "libsodium-dev", "ANONYMISE"); }

}  // namespace

PseudonymKey random_key() { throw missing(); }

PseudonymKey key_of(std::string_view) { throw missing(); }

std::uint64_t keyed_hash(const PseudonymKey&, std::string_view) { throw missing(); }

}  // namespace kmt
