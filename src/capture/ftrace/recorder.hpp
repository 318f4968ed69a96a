// SPDX-License-Identifier: GPL-2.0-or-later
// Records the live kernel's ring buffers.
#pragma once

#include <string>

#include "capture/session/recording.hpp"

namespace kmt {

// Records until the command ends, the time is over, or interrupted() says so. The instance is gone when it returns or
// throws. A command that cannot be executed throws Error.
RecordOutcome record(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks);

}  // namespace kmt
