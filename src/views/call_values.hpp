// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments and results of calls as JSON (docs/formats/graph-json.md).
#pragma once

#include "trace/call_signature.hpp"
#include "views/json_common.hpp"

namespace kmt {

Json arguments_json(const CallValues& arguments);
// The same as the text has it.
Json argument_texts_json(const CallValues& arguments);
// The names of those that were read when the call returned.
Json late_names_json(const CallValues& arguments);
Json value_json(const CallValue& value);

}  // namespace kmt
