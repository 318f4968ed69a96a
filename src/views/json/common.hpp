// SPDX-License-Identifier: GPL-2.0-or-later
// What the JSON documents share. Keys come in the order in which they are documented; strings from a trace are made
// printable, so that they are valid UTF-8 whatever the trace holds.
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

Json text_or_null(std::string_view text);  // null when it is empty: the trace does not say
template <typename Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}
// {"NAME": COUNT, …}. Two names of a trace may become the same text: their counts are added, a key comes once.
Json to_json(const std::vector<std::pair<std::string, std::uint64_t>>& counts);
Json to_json(const TraceSummary& trace);
Json to_json(const Findings& findings);
Json to_json(const std::vector<SourceFrame>& source);
Json to_json(const Estimate& estimate);
Json to_json(const Trend& trend);  // null of too few points
Json to_json(const HeapLosses& losses);
Json to_json(const MemoryState& memory);          // null without samples
std::string address_text(std::uint64_t address);  // "0xffff…": numbers beyond 2^53 are not safe in JSON
std::string dump(const Json& document);           // indented, with a newline at the end

}  // namespace kmt
