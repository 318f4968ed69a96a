// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/answer.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "results/group.hpp"

namespace kmt {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostShown = 200;
// Limit for the nesting of objects and arrays. A valid answer has at most four levels: the answer, its data, a row, and
// a cell that is an array of strings.
constexpr int kMostNested = 8;
// This limit is enough for half a million groups. A value needs at most 96 bytes, so the text of the answer and all
// values need less than 1 GiB.
constexpr std::size_t kMostValues = std::size_t{8} << 20;

bool is_text(const Json& value) { return value.is_string(); }
bool is_texts(const Json& value) { return value.is_array() && std::ranges::all_of(value, is_text); }
bool is_integer(const Json& value) { return value.is_number_integer(); }
bool is_int64(const Json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max());
}
bool is_uint32(const Json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
}
bool is_decimal(const Json& value) { return value.is_number() || value.is_null(); }

// Returns the number in a JSON text such as "42", and other values unchanged. Most servers write 64-bit numbers in
// quotes, because some JSON readers would convert them to doubles.
Json number_of(const Json& value) {
  constexpr std::size_t kMostDigits = 20;
  if (!value.is_string() || value.get_ref<const std::string&>().size() > kMostDigits) return value;
  const Json number = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
  return number.is_number_integer() ? number : value;
}

std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  if (!value.is_string()) return value.dump();
  const Json start = value.get_ref<const std::string&>().substr(0, kMostShown);
  const std::string text = start.dump(-1, ' ', true, Json::error_handler_t::replace);
  return printable(std::string_view(text).substr(0, kMostShown));
}

[[noreturn]] void no_rows(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), kMostShown));
  throw Error(fmt::format("The server's answer is not a JSON table: {}", printable(line)));
}

// Parses JSON. Returns a discarded value if the text is not JSON. Stops immediately if the text is nested deeper than
// valid rows, or if it would need too much memory.
Json parsed(std::string_view text) {
  std::size_t values = 0;
  const auto is_bounded = [&](int nested, Json::parse_event_t event, const Json&) {
    if (event == Json::parse_event_t::array_end || event == Json::parse_event_t::object_end) return true;
    if (nested > kMostNested) no_rows(text);
    if (++values > kMostValues)
      throw Error(fmt::format("The server's answer has more than {} million values", kMostValues >> 20))
          .hint("Request fewer groups: --host, --kernel, --since, or fewer keys in --by");
    return true;
  };
  return Json::parse(text, is_bounded, false);
}

}  // namespace

std::vector<Json> rows_of_answer(std::string_view text) {
  Json answer = parsed(text);
  const auto data = answer.is_object() ? answer.find("data") : answer.end();
  const bool has_rows = answer.is_object() && data != answer.end() && data->is_array() &&
                        std::ranges::all_of(*data, [](const Json& row) { return row.is_array(); });
  if (!has_rows) no_rows(text);
  return std::move(data->get_ref<Json::array_t&>());
}

const Json& AnswerCells::next(bool (*is_right)(const Json&), std::string_view what) {
  if (at_ >= row_.size()) throw Error(fmt::format("A row in the server's answer has too few columns: {}", row_.size()));
  const Json& value = row_[at_++];
  check(is_right(value), value, what);
  return value;
}

Json AnswerCells::next_integer(bool (*is_right)(const Json&), std::string_view what) {
  const Json& value = next([](const Json&) { return true; }, what);
  Json number = number_of(value);
  check(is_right(number), value, what);
  return number;
}

void AnswerCells::check(bool is_right, const Json& value, std::string_view what) const {
  if (!is_right)
    throw Error(fmt::format("The server's answer has {} in column {}, which is not {}", shown(value), at_, what));
}

std::string AnswerCells::text() { return next(is_text, "a text").get<std::string>(); }
std::vector<std::string> AnswerCells::texts() {
  return next(is_texts, "an array of texts").get<std::vector<std::string>>();
}
std::uint64_t AnswerCells::count() {
  const Json value = next_integer(is_integer, "a number");
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}
std::int64_t AnswerCells::number() { return next_integer(is_int64, "a 64-bit number").get<std::int64_t>(); }
std::uint32_t AnswerCells::number_32() { return next_integer(is_uint32, "a 32-bit number").get<std::uint32_t>(); }
std::optional<double> AnswerCells::decimal() {
  const Json& value = next(is_decimal, "a number");
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

Allocator AnswerCells::allocator() {
  const std::string name = text();
  for (const Allocator known : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap})
    if (name_of(known) == name) return known;
  throw Error(fmt::format(
      "The server has an allocator \"{}\" that this version of kmemtrace does not know: use a newer version",
      printable(std::string_view(name).substr(0, kMostShown))));
}

}  // namespace kmt
