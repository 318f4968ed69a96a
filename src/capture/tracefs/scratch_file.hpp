// SPDX-License-Identifier: GPL-2.0-or-later
// Files without a name, which vanish with their last descriptor: whatever kills a recording, no litter stays.
#pragma once

#include <string>

#include "base/file.hpp"

namespace kmt {

// Readable and writable, in `directory` so that its data can be moved to a file there; throws Error.
FileDescriptor open_scratch_file(const std::string& directory);

}  // namespace kmt
