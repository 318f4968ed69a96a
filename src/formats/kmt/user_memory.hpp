// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes and decodes code mappings of processes in a chunk of a .kmt: docs/formats/kmt.md, "Code of processes".
#pragma once

#include "base/byte_reader.hpp"
#include "formats/kmt/payload.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt::kmt_format {

Payload encode_user_memory(const UserMemory& memory);
// Throws Error if the payload is damaged.
UserMemory decode_user_memory(Bytes payload);

}  // namespace kmt::kmt_format
