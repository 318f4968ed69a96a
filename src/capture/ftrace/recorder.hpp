// SPDX-License-Identifier: GPL-2.0-or-later
// Records the live kernel's ring buffers.
#pragma once

#include <string>

#include "capture/session/recording.hpp"

namespace kmt {

// Records until the command ends, the time is over, or interrupted() is true. Removes the instance before it returns or
// throws. Throws Error if the command cannot be executed.
RecordOutcome record(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks);

}  // namespace kmt
