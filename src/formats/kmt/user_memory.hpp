// SPDX-License-Identifier: GPL-2.0-or-later
// Mappings of code in processes, as a chunk of a .kmt: docs/formats/kmt.md, "Code of processes".
#pragma once

#include "base/byte_reader.hpp"
#include "formats/kmt/payload.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt::kmt_format {

Payload encode_user_memory(const UserMemory& memory);
// Throws Error.
UserMemory decode_user_memory(Bytes payload);

}  // namespace kmt::kmt_format
