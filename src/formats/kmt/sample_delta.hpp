// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes a sample of the memory state as its difference to an earlier sample, line by line and number by number:
// docs/formats/kmt.md, "A delta". A delta is small because most lines of two samples are equal, and the others differ
// only in numbers.
#pragma once

#include <cstddef>

#include "base/byte_reader.hpp"
#include "formats/kmt/payload.hpp"
#include "trace/state/sample.hpp"

namespace kmt::kmt_format {

Payload encode_delta(const StateSample& base, const StateSample& sample);
// Returns the sample of a delta. `base` must be equal to the base of encode_delta(). Throws Error if the delta is
// damaged, or if the texts have more than `most_bytes` in total.
StateSample apply_delta(const StateSample& base, Bytes delta, std::size_t most_bytes);

// Returns the total size of the texts in bytes.
std::size_t text_bytes(const StateSample& sample);

}  // namespace kmt::kmt_format
