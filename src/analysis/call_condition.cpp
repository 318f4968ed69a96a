// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/call_condition.hpp"

#include <algorithm>
#include <charconv>
#include <compare>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

using Operator = CallCondition::Operator;

constexpr std::pair<std::string_view, Operator> kOperators[] = {
    {"==", Operator::equal},         {"!=", Operator::different},
    {"<=", Operator::less_or_equal}, {">=", Operator::greater_or_equal},
    {"<", Operator::less},           {">", Operator::greater},
};

void parse_number(CallCondition& condition) {
  std::string_view text = condition.text;
  if (text == "true") condition.bits = 1;
  if (text == "false" || text == "NULL") condition.bits = 0;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const bool octal = !hex && text.size() > 1 && text.starts_with('0');  // as modes are shown
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : octal ? 8 : 10);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return;
  condition.bits = negative ? -value : value;
  condition.is_negative = negative;
}

bool decide(Operator compare, std::strong_ordering order) {
  switch (compare) {
    case Operator::equal: return std::is_eq(order);
    case Operator::different: return std::is_neq(order);
    case Operator::less: return std::is_lt(order);
    case Operator::less_or_equal: return std::is_lteq(order);
    case Operator::greater: return std::is_gt(order);
    case Operator::greater_or_equal: return std::is_gteq(order);
  }
  return false;
}

std::strong_ordering order_of(const CallValue& value, const CallCondition& condition) {
  const auto number = static_cast<std::int64_t>(value.bits);
  const auto wanted = static_cast<std::int64_t>(*condition.bits);
  if (value.is_signed) {
    const bool too_large = !condition.is_negative && wanted < 0;
    return too_large ? std::strong_ordering::less : number <=> wanted;
  }
  // -1 of an unsigned argument is none of its values; of a pointer it may be an error.
  if (condition.is_negative && value.kind != ValueKind::pointer) return std::strong_ordering::greater;
  return value.bits <=> *condition.bits;
}

bool holds(const CallCondition& condition, const CallValue& value) {
  switch (value.kind) {
    case ValueKind::nothing:
    case ValueKind::unknown:
    case ValueKind::structure: return false;
    case ValueKind::string: return decide(condition.compare, value.text <=> condition.text);
    case ValueKind::enumeration:
      if (!condition.bits || condition.quoted) {
        const bool same = value.text == condition.text;
        return (condition.compare == Operator::equal && same) || (condition.compare == Operator::different && !same);
      }
      break;
    case ValueKind::integer:
    case ValueKind::boolean:
    case ValueKind::pointer: break;
  }
  return condition.bits && !condition.quoted && decide(condition.compare, order_of(value, condition));
}

}  // namespace

CallCondition parse_call_condition(const std::string& text) {
  const auto bad = [&text](const char* why) {
    return Error(fmt::format("Cannot understand the condition \"{}\": {}", printable(text), why))
        .hint("Write an argument, one of == != < <= > >= and a value: 'flags>=0x200', 'name==\"etc\"'");
  };
  std::size_t at = 0;  // of the comparison; the name may have arrows
  while ((at = text.find_first_of("=!<>", at)) != std::string::npos && at > 0 && text[at] == '>' && text[at - 1] == '-')
    ++at;
  if (at == std::string::npos) throw bad("it has no comparison");
  const std::string_view rest = std::string_view(text).substr(at);
  const auto* const found =
      std::ranges::find_if(kOperators, [rest](const auto& one) { return rest.starts_with(one.first); });
  if (found == std::end(kOperators)) throw bad("it has no comparison");
  CallCondition condition;
  condition.name = trim(std::string_view(text).substr(0, at));
  condition.compare = found->second;
  std::string_view value = trim(rest.substr(found->first.size()));
  if (condition.name.empty()) throw bad("it names no argument");
  if (value.empty()) throw bad("it has no value");
  if (value.front() == '"') {
    if (value.size() < 2 || value.back() != '"') throw bad("the text has no closing quote");
    value = value.substr(1, value.size() - 2);
    condition.quoted = true;
  }
  condition.text = value;
  parse_number(condition);
  return condition;
}

bool holds(const CallCondition& condition, const CallValues& values) {
  const auto found = std::ranges::find(values.values, condition.name, &CallValue::name);
  return found != values.values.end() && holds(condition, *found);
}

}  // namespace kmt
