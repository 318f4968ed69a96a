// SPDX-License-Identifier: GPL-2.0-or-later
// Parts that several JSON documents have. Object keys are in the documented order. Strings from a trace are made
// printable, so that they are always valid UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "results/heap/profile.hpp"
#include "results/report/report.hpp"
#include "results/series/trend.hpp"

namespace kmt {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text);  // returns null for an empty text
template <typename Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}
// Returns {"NAME": COUNT, …}. Names that become equal when made printable are merged: their counts are added.
Json to_json(const std::vector<std::pair<std::string, std::uint64_t>>& counts);
Json to_json(const TraceSummary& trace);
Json to_json(const Findings& findings);
Json to_json(const ExplainedAnomalies& explained);
Json to_json(const std::vector<SourceFrame>& source);
Json to_json(const Estimate& estimate);
Json to_json(const Trend& trend);  // returns null if there are too few points for a trend
Json to_json(const HeapLosses& losses);
Json to_json(const MemoryState& memory);  // returns null if the trace has no samples of the memory state
// Returns a string such as "0xffff…", because JSON numbers are exact only up to 2^53.
std::string address_text(std::uint64_t address);
std::string dump(const Json& document);  // returns indented JSON text that ends with a newline

}  // namespace kmt
