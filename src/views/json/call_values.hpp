// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments and results of calls as JSON (docs/formats/graph-json.md).
#pragma once

#include <string>
#include <vector>

#include "trace/calls/signature.hpp"
#include "views/json/common.hpp"

namespace kmt {

Json arguments_json(const CallValues& arguments);
// Returns the values in the words of the text view (value_texts()). Names are printable.
Json argument_texts_json(const CallValues& arguments);
std::vector<NamedText> named_texts(const CallValues& arguments);
// Returns the names of the values that have the flag `which`: CallValue::is_late or CallValue::is_cut.
Json names_json(const CallValues& arguments, bool CallValue::*which);
Json value_json(const CallValue& value);

}  // namespace kmt
