// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of a fleet's server. They are not trusted: if an answer is not the expected one, an Error says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "trace/event.hpp"

namespace kmt {

// The rows of an answer in JSONCompact, each of them an array. They take less than 1 GiB, whatever is answered.
std::vector<nlohmann::json> rows_of_answer(std::string_view text);

// Values of a row, from left to right; the row must outlive this.
class AnswerCells {
 public:
  explicit AnswerCells(const nlohmann::json& row) : row_(row) {}

  std::string text();
  std::vector<std::string> texts();
  // Returns 0 for a negative number: a sum over a part of the time, in which more was freed than allocated.
  std::uint64_t count();
  std::int64_t number();
  std::uint32_t number_32();
  std::optional<double> decimal();  // empty: null, which is what is no number
  Allocator allocator();

 private:
  const nlohmann::json& next(bool (*is_right)(const nlohmann::json&), std::string_view what);
  nlohmann::json next_integer(bool (*is_right)(const nlohmann::json&), std::string_view what);
  void check(bool is_right, const nlohmann::json& value, std::string_view what) const;

  const nlohmann::json& row_;
  std::size_t at_ = 0;
};

}  // namespace kmt
