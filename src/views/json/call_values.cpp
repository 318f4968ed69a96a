// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/call_values.hpp"

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

// Escapes unprintable bytes like printable(), and also doubles backslashes. So the original text can be restored.
std::string escaped(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '\\' ? 2 : 1, c);
  return printable(doubled);
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
    case ValueKind::string: return escaped(value.text);
    case ValueKind::structure: return printable(value.text);
  }
  return nullptr;
}

namespace {

// Returns the name of an argument, or its number (counted from 1) if it has no name.
std::string shown_name(const std::string& name, std::size_t number) {
  return name.empty() ? fmt::format("#{}", number) : printable(name);
}

}  // namespace

Json arguments_json(const CallValues& arguments) {
  Json json = Json::object();
  std::size_t number = 0;
  for (const CallValue& value : arguments.values) json[shown_name(value.name, ++number)] = value_json(value);
  return json;
}

Json argument_texts_json(const CallValues& arguments) {
  Json json = Json::object();
  for (auto& [name, text] : named_texts(arguments)) json[name] = std::move(text);
  return json;
}

std::vector<NamedText> named_texts(const CallValues& arguments) {
  std::vector<NamedText> texts = value_texts(arguments);
  std::size_t number = 0;
  for (auto& [name, text] : texts) name = shown_name(name, ++number);
  return texts;
}

Json names_json(const CallValues& arguments, bool CallValue::*which) {
  Json names = Json::array();
  std::size_t number = 0;
  for (const CallValue& value : arguments.values) {
    ++number;
    if (value.*which) names.push_back(shown_name(value.name, number));
  }
  return names;
}

}  // namespace kmt
