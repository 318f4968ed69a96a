// SPDX-License-Identifier: GPL-2.0-or-later
// Reads answers of a fleet server, which are untrusted. If an answer has an unexpected form, throws an Error with the
// reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "trace/event.hpp"

namespace kmt {

// Returns the rows of an answer in the format JSONCompact. Each row is an array. The rows of any answer need less than
// 1 GiB.
std::vector<nlohmann::json> rows_of_answer(std::string_view text);

// Reads the values of one row from left to right. The row must outlive this object.
class AnswerCells {
 public:
  explicit AnswerCells(const nlohmann::json& row) : row_(row) {}

  std::string text();
  std::vector<std::string> texts();
  // Returns a count. A negative number becomes 0. A sum over a part of the time is negative if more memory was freed
  // than allocated in this part.
  std::uint64_t count();
  std::int64_t number();
  std::uint32_t number_32();
  std::optional<double> decimal();  // empty if the answer has null, which the server writes for NaN and infinity
  Allocator allocator();

 private:
  const nlohmann::json& next(bool (*is_right)(const nlohmann::json&), std::string_view what);
  nlohmann::json next_integer(bool (*is_right)(const nlohmann::json&), std::string_view what);
  void check(bool is_right, const nlohmann::json& value, std::string_view what) const;

  const nlohmann::json& row_;
  std::size_t at_ = 0;
};

}  // namespace kmt
