// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/keyed_hash.hpp"

#include <cstring>
#include <tuple>

#include <sodium.h>

#include "base/error.hpp"

namespace kmt {

namespace {

static_assert(crypto_shorthash_KEYBYTES == std::tuple_size_v<PseudonymKey>);

void begin_library() {
  if (sodium_init() < 0) throw Error("Cannot get random numbers from this system");
}

}  // namespace

PseudonymKey random_key() {
  begin_library();
  PseudonymKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

PseudonymKey key_of(std::string_view secret) {
  begin_library();
  PseudonymKey key;
  crypto_generichash(key.data(), key.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
                     nullptr, 0);
  return key;
}

std::uint64_t keyed_hash(const PseudonymKey& key, std::string_view text) {
  unsigned char out[crypto_shorthash_BYTES];
  crypto_shorthash(out, reinterpret_cast<const unsigned char*>(text.data()), text.size(), key.data());
  std::uint64_t number;
  static_assert(sizeof number == sizeof out);
  std::memcpy(&number, out, sizeof number);
  return number;
}

}  // namespace kmt
