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

Json arguments_json(const CallValues& arguments) {
  Json json = Json::object();
  std::size_t number = 0;
  for (const CallValue& value : arguments.values) {
    ++number;
    json[value.name.empty() ? fmt::format("#{}", number) : printable(value.name)] = value_json(value);
  }
  return json;
}

}  // namespace kmt
