// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/call_values.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kmt {

namespace {

constexpr std::int64_t kMostExact = std::int64_t{1} << 53;

Json number_json(const CallValue& value) {
  const auto number = static_cast<std::int64_t>(value.bits);
  if (value.is_signed && number >= -kMostExact && number <= kMostExact) return number;
  if (value.is_signed) return fmt::format("{}", number);
  if (value.bits <= std::uint64_t{kMostExact}) return value.bits;
  return address_text(value.bits);
}

}  // namespace

Json value_json(const CallValue& value) {
  switch (value.kind) {
    case ValueKind::nothing:
    case ValueKind::unknown: return nullptr;
    case ValueKind::integer: return number_json(value);
    case ValueKind::boolean: return value.bits != 0;
    case ValueKind::enumeration: return value.text.empty() ? number_json(value) : Json(printable(value.text));
    case ValueKind::pointer: return address_text(value.bits);
    case ValueKind::string:
    case ValueKind::structure: return printable(value.text);
  }
  return nullptr;
}

namespace {

// Each by its name, or by its number where it has none.
template <typename Shown>
Json by_names(const CallValues& arguments, Shown shown) {
  Json json = Json::object();
  std::size_t number = 0;
  for (const CallValue& value : arguments.values) {
    ++number;
    json[value.name.empty() ? fmt::format("#{}", number) : printable(value.name)] = shown(value);
  }
  return json;
}

}  // namespace

Json arguments_json(const CallValues& arguments) { return by_names(arguments, value_json); }

Json argument_texts_json(const CallValues& arguments) {
  return by_names(arguments, [](const CallValue& value) -> Json {
    return value_text(value, false) + (value.is_late ? " (read at exit)" : "");
  });
}

Json late_names_json(const CallValues& arguments) {
  Json names = Json::array();
  for (const CallValue& value : arguments.values)
    if (value.is_late) names.push_back(printable(value.name));
  return names;
}

}  // namespace kmt
