// SPDX-License-Identifier: GPL-2.0-or-later
// Parts that several JSON documents share. Keys are in the documented order. Strings from a trace are made printable,
// so they are always valid UTF-8.
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

Json text_or_null(std::string_view text);  // null if empty
template <typename Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}
// {"NAME": COUNT, …}. Names that become equal when made printable are merged: their counts are added.
Json to_json(const std::vector<std::pair<std::string, std::uint64_t>>& counts);
Json to_json(const TraceSummary& trace);
Json to_json(const Findings& findings);
Json to_json(const ExplainedAnomalies& explained);
Json to_json(const std::vector<SourceFrame>& source);
Json to_json(const Estimate& estimate);
Json to_json(const Trend& trend);  // null if there are too few points
Json to_json(const HeapLosses& losses);
Json to_json(const MemoryState& memory);  // null if there are no samples
std::string address_text(
    std::uint64_t address);              // a string such as "0xffff…", because JSON numbers are exact only up to 2^53
std::string dump(const Json& document);  // indented, with a final newline

}  // namespace kmt
