// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/print_format.hpp"

#include <cctype>
#include <string>

#include "base/number.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostDepth = 64;
constexpr unsigned kMostOrder = 20;  // limit for pageblock_order; larger than on any kernel

struct Operator {
  std::string_view text;
  unsigned precedence;  // as in C; operators with higher numbers bind tighter
};
// The parser uses the first operator that matches the text, so "<<" must come before "<".
constexpr Operator kOperators[] = {{"<<", 5}, {">>", 5}, {"<=", 4}, {">=", 4}, {"==", 3}, {"<", 4},
                                   {">", 4},  {"&", 2},  {"|", 1},  {"+", 6},  {"-", 6},  {"*", 7}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Evaluates an expression with a recursive descent parser. The arithmetic is unsigned, because signed overflow is
// undefined in C++.
class Evaluation {
 public:
  explicit Evaluation(std::string_view text) : text_(text) {}

  std::optional<std::uint64_t> whole() {
    const auto value = conditional();
    skip_blanks();
    return text_.empty() ? value : std::nullopt;
  }

 private:
  using Value = std::optional<std::uint64_t>;

  void skip_blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0) text_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  Value conditional() {
    const Value condition = binary(1);
    if (!condition || !take("?")) return condition;
    const Value yes = nested([this] { return conditional(); });
    if (!yes || !take(":")) return std::nullopt;
    const Value no = nested([this] { return conditional(); });
    if (!no) return std::nullopt;
    return *condition != 0 ? yes : no;
  }

  Value binary(unsigned least_precedence) {
    Value left = unary();
    while (left) {
      const Operator* const found = next_operator();
      if (found == nullptr || found->precedence < least_precedence) break;
      take(found->text);
      const Value right = nested([&] { return binary(found->precedence + 1); });
      left = right ? apply(found->text, *left, *right) : std::nullopt;
    }
    return left;
  }

  const Operator* next_operator() {
    skip_blanks();
    for (const Operator& candidate : kOperators)
      if (text_.starts_with(candidate.text)) return &candidate;
    return nullptr;
  }

  static Value apply(std::string_view what, std::uint64_t left, std::uint64_t right) {
    const auto a = static_cast<std::int64_t>(left);
    const auto b = static_cast<std::int64_t>(right);
    if (what == "<<" || what == ">>") {
      if (right > 63) return std::nullopt;
      return what == "<<" ? left << right : left >> right;
    }
    if (what == "<") return a < b;
    if (what == ">") return a > b;
    if (what == "<=") return a <= b;
    if (what == ">=") return a >= b;
    if (what == "==") return a == b;
    if (what == "&") return left & right;
    if (what == "|") return left | right;
    if (what == "+") return left + right;
    if (what == "-") return left - right;
    return left * right;
  }

  Value unary() {
    if (take("-")) return apply_to(nested([this] { return unary(); }), [](std::uint64_t v) { return 0 - v; });
    if (take("~")) return apply_to(nested([this] { return unary(); }), [](std::uint64_t v) { return ~v; });
    if (take_cast()) return nested([this] { return unary(); });
    if (take("(")) {
      const Value inner = nested([this] { return conditional(); });
      return inner && take(")") ? inner : std::nullopt;
    }
    return number();
  }

  template <typename Function>
  static Value apply_to(Value value, Function&& function) {
    return value ? Value(function(*value)) : std::nullopt;
  }

  // Skips a cast such as "(unsigned int)": words in parentheses that do not start with a digit.
  bool take_cast() {
    skip_blanks();
    if (!text_.starts_with('(')) return false;
    const std::size_t end = text_.find(')');
    if (end == std::string_view::npos) return false;
    bool any = false;
    for (const char c : text_.substr(1, end - 1)) {
      if (c == ' ' || c == '*') continue;
      if (!is_word(c) || (!any && std::isdigit(static_cast<unsigned char>(c)) != 0)) return false;
      any = true;
    }
    if (any) text_.remove_prefix(end + 1);
    return any;
  }

  Value number() {
    skip_blanks();
    const bool hexadecimal = text_.starts_with("0x") || text_.starts_with("0X");
    if (hexadecimal) text_.remove_prefix(2);
    const auto value = take_number<std::uint64_t>(text_, hexadecimal ? 16 : 10);
    if (!value) return std::nullopt;
    while (!text_.empty() &&
           (text_.front() == 'u' || text_.front() == 'U' || text_.front() == 'l' || text_.front() == 'L'))
      text_.remove_prefix(1);
    if (!text_.empty() && is_word(text_.front())) return std::nullopt;
    return value;
  }

  template <typename Function>
  Value nested(Function&& function) {
    if (depth_ == kMostDepth) return std::nullopt;
    ++depth_;
    const Value value = function();
    --depth_;
    return value;
  }

  std::string_view text_;
  unsigned depth_ = 0;
};

// Returns the index of the argument that a printf-like format prints after `label`. The first argument has index 0.
std::optional<unsigned> argument_of(std::string_view format, std::string_view label) {
  const std::size_t at = format.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  unsigned conversions = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if (format[i] != '%') continue;
    if (format.substr(i + 1).starts_with('%'))
      ++i;
    else
      ++conversions;
  }
  return conversions;
}

// Returns the n-th argument. Commas in parentheses and strings do not separate arguments.
std::string_view nth_argument(std::string_view arguments, unsigned n) {
  int depth = 0;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c != ',' || depth != 0) continue;
    if (n == 0) return arguments.substr(start, i - start);
    --n;
    start = i + 1;
  }
  return n == 0 ? arguments.substr(start) : std::string_view();
}

// Returns the argument that the format string in `print_format` prints after `label`; empty if there is none.
std::string_view argument_after(std::string_view print_format, std::string_view label) {
  const std::size_t open = print_format.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = print_format.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  const auto argument = argument_of(print_format.substr(open + 1, close - open - 1), label);
  // The text after the format string starts with a comma. So nth_argument() counts an empty argument 0, and the first
  // argument is number 1.
  return argument ? nth_argument(print_format.substr(close + 1), *argument + 1) : std::string_view();
}

}  // namespace

std::optional<std::int64_t> constant_value(std::string_view expression) {
  const auto value = Evaluation(expression).whole();
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<unsigned> pageblock_order_of(std::string_view print_format) {
  const auto value = constant_value(argument_after(print_format, "pageblock_order=%"));
  if (!value || *value < 1 || *value > kMostOrder) return std::nullopt;
  return static_cast<unsigned>(*value);
}

bool lacks_memcg(std::string_view print_format) {
  std::string_view argument = argument_after(print_format, "accounted=%");
  while (argument.starts_with(' ') || argument.starts_with('(')) argument.remove_prefix(1);
  return constant_value(argument.substr(0, argument.find("&&"))) == 0;
}

std::vector<FlagName> flag_names_of(std::string_view print_format, std::string_view field) {
  const std::string call = "__print_flags(REC->" + std::string(field) + ", \"|\", ";
  const std::size_t at = print_format.find(call);
  if (at == std::string_view::npos) return {};
  std::string_view pairs = print_format.substr(at + call.size());  // text such as {BITS, "NAME"}, {BITS, "NAME"})
  std::vector<FlagName> names;
  while (pairs.starts_with('{')) {
    const std::string_view expression = nth_argument(pairs.substr(1), 0);
    pairs.remove_prefix(1 + expression.size());
    while (pairs.starts_with(',') || pairs.starts_with(' ')) pairs.remove_prefix(1);
    if (pairs.starts_with("((void *)0)")) break;  // NULL at the end of the table, as in Linux 6.18
    const auto bits = constant_value(expression);
    const std::size_t close = pairs.find("\"}");
    if (!bits || !pairs.starts_with('"') || close == 0 || close == std::string_view::npos) return {};
    names.push_back({static_cast<std::uint64_t>(*bits), std::string(pairs.substr(1, close - 1))});
    pairs.remove_prefix(close + 2);
    while (pairs.starts_with(',') || pairs.starts_with(' ')) pairs.remove_prefix(1);
  }
  return names;
}

}  // namespace kmt
