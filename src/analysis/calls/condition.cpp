// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/calls/condition.hpp"

#include <algorithm>
#include <compare>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

using Operator = CallCondition::Operator;

constexpr std::pair<std::string_view, Operator> kOperators[] = {
    {"==", Operator::equal},         {"!=", Operator::different},
    {"<=", Operator::less_or_equal}, {">=", Operator::greater_or_equal},
    {"<", Operator::less},           {">", Operator::greater},
    {"&", Operator::has_bits},
};

std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  // Octal numbers are accepted because events show file modes in octal, and users copy these numbers.
  const bool octal = !hex && text.size() > 1 && text.starts_with('0');
  if (hex) text.remove_prefix(2);
  return parse_number<std::uint64_t>(text, hex ? 16 : octal ? 8 : 10);
}

void parse_value(CallCondition& condition) {
  std::string_view text = condition.text;
  if (text == "true") condition.bits = 1;
  if (text == "false" || text == "NULL") condition.bits = 0;
  condition.is_negative = text.starts_with('-');
  if (condition.is_negative) text.remove_prefix(1);
  if (const auto error = condition.is_negative ? error_number(text) : std::nullopt)
    condition.bits = static_cast<std::uint64_t>(std::int64_t{*error});
  else if (const auto value = number_of(text))
    condition.bits = condition.is_negative ? -*value : *value;
}

// Decodes the escape sequences that value_text() writes for a string. Empty if the text contains a quote without a
// backslash.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return std::nullopt;
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escaped = text.empty() ? '\0' : text.front();
    unsigned byte = static_cast<unsigned char>(escaped);
    if (escaped == 'x') {
      const std::string_view digits = text.substr(1, 2);
      if (digits.size() < 2 || !parse_number(digits, byte, 16)) return std::nullopt;
      text.remove_prefix(2);
    } else if (escaped != '"' && escaped != '\\') {
      return std::nullopt;
    }
    out += static_cast<char>(byte);
    text.remove_prefix(1);
  }
  return out;
}

bool decide(Operator compare, std::strong_ordering order) {
  switch (compare) {
    case Operator::equal: return std::is_eq(order);
    case Operator::different: return std::is_neq(order);
    case Operator::less: return std::is_lt(order);
    case Operator::less_or_equal: return std::is_lteq(order);
    case Operator::greater: return std::is_gt(order);
    case Operator::greater_or_equal: return std::is_gteq(order);
    case Operator::has_bits: break;  // operator "&" tests bits, so the type needs no order
  }
  return false;
}

std::strong_ordering order_of(const CallValue& value, const CallCondition& condition) {
  const auto number = static_cast<std::int64_t>(value.bits);
  const auto wanted = static_cast<std::int64_t>(*condition.bits);
  if (value.is_signed || (condition.of_result() && error_of(value))) {
    const bool too_large = !condition.is_negative && wanted < 0;
    return too_large ? std::strong_ordering::less : number <=> wanted;
  }
  // An unsigned argument never equals a negative number, except a pointer, which may hold a negative error number.
  const bool may_be_error = value.kind == ValueKind::pointer && !condition.of_result();
  if (condition.is_negative && !may_be_error) return std::strong_ordering::greater;
  return value.bits <=> *condition.bits;
}

// Converts "PROT_READ|PROT_WRITE|0x10" to its bits; empty if a word is unknown.
class ConditionWords {
 public:
  ConditionWords(const ValueType& type, const std::vector<FlagName>* gfp_flags) {
    if (type.enumerators)
      for (const auto& [value, name] : *type.enumerators) add(name, value);
    if (type.flags) {
      for (const FlagName& flag : type.flags->names) {
        add(flag.name, flag.bits);
        if (!type.flags->prefix.empty()) add(type.flags->prefix + flag.name, flag.bits);
      }
      if (!type.flags->zero.empty()) add(type.flags->zero, 0);
    }
    if (type.is_gfp && gfp_flags != nullptr)
      for (const FlagName& flag : *gfp_flags) add(flag.name, flag.bits);
  }

  std::optional<std::uint64_t> value(std::string_view text) const {
    std::uint64_t bits = 0;
    for (const std::string_view part : split(text, '|')) {
      const std::string_view word = trim(part);
      const auto number = number_of(word);
      const auto known = std::ranges::find(names_, word, [](const auto& one) { return std::string_view(one.first); });
      if (!number && known == names_.end()) return std::nullopt;
      bits |= number ? *number : known->second;
    }
    return bits;
  }

  std::string hint() const {
    constexpr std::size_t kMostExamples = 40;
    std::vector<std::string> names;
    for (const auto& [name, value] : names_)
      if (names.size() < kMostExamples) names.push_back(name);
    return names.empty() ? ""
                         : fmt::format("Write a number, or {}{}", fmt::join(names, ", "),
                                       names_.size() > kMostExamples ? ", …" : "");
  }

 private:
  void add(std::string_view name, std::uint64_t value) { names_.emplace_back(printable(name), value); }

  std::vector<std::pair<std::string, std::uint64_t>> names_;
};

unsigned bits_of(const ValueType& type) { return type.bytes == 0 || type.bytes > 8 ? 64 : 8 * type.bytes; }

// True if the number in the condition fits into the type, either as a value or as a set of bits.
bool is_within(const CallCondition& condition, const ValueType& type) {
  if (type.kind == ValueKind::boolean) return *condition.bits <= 1;
  const bool has_sign = type.is_signed && condition.compare != Operator::has_bits;
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits_of(type) + (has_sign || condition.is_negative ? 1 : 0));
  if (condition.is_negative) return *condition.bits == 0 || ~*condition.bits <= most;
  return *condition.bits <= most;
}

const char* in_words(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::nothing: return "nothing";
    case ValueKind::unknown: return "of an unknown type";
    case ValueKind::integer: return type.flags || type.is_gfp ? "a set of flags" : "a number";
    case ValueKind::boolean: return "true or false";
    case ValueKind::enumeration: return "a value of an enumeration";
    case ValueKind::pointer: return "a pointer";
    case ValueKind::string: return "a string";
    case ValueKind::structure: return "a structure";
  }
  return "";
}

}  // namespace

CallCondition parse_call_condition(const std::string& text) {
  const auto bad = [&text](const char* why) {
    return Error(fmt::format("Cannot understand the condition \"{}\": {}", printable(text), why))
        .hint(
            "Write an argument, or ret for the result, one of == != < <= > >= & and a value: 'flags&WRITE', "
            "'name==\"etc\"', 'ret==-ENOENT'");
  };
  std::size_t at = 0;  // index of the comparison operator in the text; skips the ">" of "->" in a name
  while ((at = text.find_first_of("=!<>&", at)) != std::string::npos && at > 0 && text[at] == '>' &&
         text[at - 1] == '-')
    ++at;
  if (at == std::string::npos) throw bad("it has no comparison");
  const std::string_view rest = std::string_view(text).substr(at);
  const auto* const found =
      std::ranges::find_if(kOperators, [rest](const auto& one) { return rest.starts_with(one.first); });
  if (found == std::end(kOperators)) throw bad("it has no comparison");
  CallCondition condition;
  condition.name = trim(std::string_view(text).substr(0, at));
  condition.compare = found->second;
  const std::string_view value = trim(rest.substr(found->first.size()));
  if (condition.name.empty()) throw bad("it names no argument");
  if (value.empty()) throw bad("it has no value");
  condition.text = value;
  if (value.front() != '"') {
    parse_value(condition);
    return condition;
  }
  if (value.size() < 2 || value.back() != '"') throw bad("the text has no closing quote");
  const auto plain = unescaped(value.substr(1, value.size() - 2));
  if (!plain) throw bad("in the quotes, a backslash must start one of \\\" \\\\ \\xNN");
  condition.text = *plain;
  condition.quoted = true;
  return condition;
}

CallCondition condition_for(const CallCondition& condition, const ValueType& type,
                            const std::vector<FlagName>* gfp_flags) {
  const auto bad = [&](const std::string& why, const std::string& hint = {}) {
    const std::string name = condition.of_result() ? "the result" : printable(condition.name);
    Error error(fmt::format("--where: {} is {}{}", name, in_words(type), why));
    return hint.empty() ? error : error.hint(hint);
  };
  const bool is_number = type.kind == ValueKind::integer || type.kind == ValueKind::enumeration;
  if (type.kind == ValueKind::nothing || type.kind == ValueKind::unknown || type.kind == ValueKind::structure)
    throw bad(", and conditions cannot test that");
  if (condition.compare == Operator::has_bits && !is_number) throw bad(", and & needs an integer");
  if (type.kind == ValueKind::string) return condition;
  if (condition.quoted) throw bad(fmt::format(", but \"{}\" is a string", printable(condition.text)));
  const bool is_truth = condition.text == "true" || condition.text == "false";
  const bool may_be_null = type.kind == ValueKind::pointer || (type.is_long && type.is_hex);  // true: may be an address
  if ((is_truth && type.kind != ValueKind::boolean) || (condition.text == "NULL" && !may_be_null))
    throw bad(fmt::format(", but \"{}\" is not", condition.text));
  CallCondition made = condition;
  const ConditionWords words(type, gfp_flags);
  if (!made.bits) {
    made.bits = words.value(condition.text);
    made.is_negative = made.bits && type.is_signed && static_cast<std::int64_t>(*made.bits) < 0;
  }
  if (!made.bits && type.is_gfp && gfp_flags == nullptr) return made;
  if (!made.bits)
    throw bad(fmt::format(", but \"{}\" is not", printable(condition.text)),
              error_number(condition.text) ? fmt::format("Errors are negative: -{}", condition.text) : words.hint());
  const bool may_be_error = condition.of_result() && type.is_long;
  const bool is_below_zero = made.is_negative || (made.compare == Operator::less && *made.bits == 0);
  const std::uint64_t all_bits = ~std::uint64_t{0} >> (64 - bits_of(type));
  const bool is_order =
      made.compare != Operator::equal && made.compare != Operator::different && made.compare != Operator::has_bits;
  const bool lacks_sign = is_number && !type.is_signed && !may_be_error;
  if (lacks_sign && is_below_zero && is_order)
    throw bad(", which is never negative",
              made.is_negative ? fmt::format("Write the bits of the value instead: {:#x}", *made.bits & all_bits) : "");
  if (!is_within(made, type))
    throw bad(type.kind == ValueKind::boolean
                  ? fmt::format(", but \"{}\" is neither", printable(condition.text))
                  : fmt::format(" of {} bits, and \"{}\" is out of range for {}", bits_of(type),
                                printable(condition.text), type.is_signed ? "a signed one" : "it"));
  if (lacks_sign && made.is_negative) {  // for an unsigned type, -1 means that all bits are set
    *made.bits &= all_bits;
    made.is_negative = false;
  }
  if (made.compare == Operator::has_bits && *made.bits == 0)
    throw bad(fmt::format(", but \"{}\" is 0, so & would test no bits", printable(condition.text)), "Write ==");
  return made;
}

bool holds(const CallCondition& condition, const CallValue& value) {
  switch (value.kind) {
    case ValueKind::nothing:
    case ValueKind::unknown:
    case ValueKind::structure: return false;
    case ValueKind::string: return decide(condition.compare, value.text <=> condition.text);
    case ValueKind::enumeration:
    case ValueKind::integer:
    case ValueKind::boolean:
    case ValueKind::pointer: break;
  }
  if (!condition.bits || condition.quoted) return false;
  if (condition.compare == Operator::has_bits) return (value.bits & *condition.bits) == *condition.bits;
  return decide(condition.compare, order_of(value, condition));
}

CallConditions::CallConditions(std::vector<CallCondition> all, const std::vector<FlagName>* gfp_flags)
    : all_(std::move(all)), gfp_flags_(gfp_flags), can_hold_(all_.size()), why_(all_.size()) {}

void CallConditions::add(std::uint32_t function, const std::string& name, const CallSignature* signature) {
  constexpr std::size_t kMostExamples = 3;
  if (function >= functions_.size()) functions_.resize(function + 1);
  Function& known = functions_[function].emplace();
  ++known_;
  if (signature != nullptr) {
    std::vector<std::string> own;
    for (const Parameter& parameter : signature->parameters)
      own.push_back(parameter.name.empty() ? "?" : printable(parameter.name));
    if (signatures_.size() < kMostExamples)
      signatures_.push_back(fmt::format("{}({})", printable(name), fmt::join(own, ", ")));
    names_.insert(own.begin(), own.end());
    names_.erase("?");
    for (const RecordedValueType& value : signature->recorded) names_.insert(printable(value.text));
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const CallCondition& condition = all_[i];
    bool& can_hold = condition.of_result() ? known.result_can_hold : known.arguments_can_hold;
    const ValueType* type = nullptr;
    if (signature != nullptr) {
      const auto parameter = std::ranges::find(signature->parameters, condition.name, &Parameter::name);
      const auto recorded = std::ranges::find(signature->recorded, condition.name, &RecordedValueType::text);
      type = condition.of_result()                      ? &signature->result
             : parameter != signature->parameters.end() ? &parameter->type
             : recorded != signature->recorded.end()    ? &recorded->type
                                                        : nullptr;
    }
    const bool is_text =
        type != nullptr && type->kind == ValueKind::string && !condition.of_result() && !condition.bits;
    compare_text_ = compare_text_ || is_text;
    const bool lacks_text = is_text && std::ranges::find(signature->recorded, condition.name,
                                                         &RecordedValueType::text) == signature->recorded.end();
    const bool by_register = signature == nullptr && condition.of_result() && condition.bits;
    if (type == nullptr && !by_register) {
      can_hold = false;
      continue;
    }
    try {
      if (lacks_text)
        throw Error(fmt::format("--where: the text of {} is not in this trace", printable(condition.name)))
            .hint(
                "kmemtrace graph FUNCTION records it with BPF or kprobe events, but not with ftrace. Only a .kmt file "
                "can store what BPF recorded");
      known.conditions.push_back(by_register ? condition : condition_for(condition, *type, gfp_flags_));
      can_hold_[i] = true;
    } catch (const Error& error) {
      can_hold = false;
      // Errors with a hint on how to write the condition are preferred. Other errors, such as "returns nothing", are
      // less helpful.
      if (!why_[i] || (why_[i]->hint().empty() && !error.hint().empty())) why_[i] = error;
    }
  }
}

bool CallConditions::hold(std::uint32_t function, const CallValues& arguments) const {
  const Function& known = *functions_[function];
  return known.arguments_can_hold && std::ranges::all_of(known.conditions, [&](const CallCondition& condition) {
           if (condition.of_result()) return true;
           const auto found = std::ranges::find(arguments.values, condition.name, &CallValue::name);
           return found != arguments.values.end() && holds(condition, *found);
         });
}

bool CallConditions::hold(std::uint32_t function, const CallValue& result) const {
  const Function& known = *functions_[function];
  return known.result_can_hold && std::ranges::all_of(known.conditions, [&](const CallCondition& condition) {
           return !condition.of_result() || holds(condition, result);
         });
}

bool CallConditions::any_of_arguments() const {
  return std::ranges::any_of(all_, [](const CallCondition& one) { return !one.of_result(); });
}

bool CallConditions::any_of_results() const { return std::ranges::any_of(all_, &CallCondition::of_result); }

void CallConditions::check() const {
  if (known_ == 0) return;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (can_hold_[i]) continue;
    if (why_[i]) throw Error(*why_[i]);
    if (signatures_.empty()) throw Error("--where: the types of the functions are unknown");
    const std::string many = fmt::format("Their arguments are {}", fmt::join(names_, ", "));
    throw Error(fmt::format("--where: none of the functions has an argument \"{}\"", printable(all_[i].name)))
        .hint(known_ > signatures_.size() ? many : fmt::format("Their types are {}", fmt::join(signatures_, ", ")));
  }
}

}  // namespace kmt
