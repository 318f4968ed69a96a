// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/trace_id.hpp"

#include <new>

#include <fmt/format.h>
#include <xxhash.h>

namespace kmt {

TraceId::TraceId() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}

TraceId::~TraceId() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void TraceId::add(Bytes bytes) { XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size()); }

// Adds a text to the hash. The length is also hashed, so that adding "ab" and "c" differs from adding "a" and "bc".
void TraceId::add(std::string_view text) {
  const std::string whole = fmt::format("{}:{}", text.size(), text);
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), whole.data(), whole.size());
}

std::string TraceId::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace kmt
