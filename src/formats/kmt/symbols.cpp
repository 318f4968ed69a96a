// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/symbols.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "formats/kmt/layout.hpp"
#include "formats/kmt/payload.hpp"

namespace kmt::kmt_format {

namespace {

// The kernel pads functions (CONFIG_CALL_PADDING). The symbol of the padding is this prefix and the function's name.
constexpr std::string_view kPaddingPrefix = "__pfx_";
constexpr std::uint8_t kIsPadding = 0x80;  // flag of a symbol's type: the name is the prefix and the next symbol's name

constexpr std::size_t kMostDigits = 16;

// A line of /proc/kallsyms: "ffffffff81000000 T _stext".
struct Symbol {
  std::uint64_t address = 0;
  std::uint8_t type = 0;
  std::string_view name;
};

std::optional<std::uint64_t> address_in(std::string_view digits) {
  std::uint64_t address = 0;
  for (const char digit : digits) {
    const bool is_number = digit >= '0' && digit <= '9';
    if (!is_number && (digit < 'a' || digit > 'f')) return std::nullopt;
    address = address << 4 | static_cast<std::uint64_t>(is_number ? digit - '0' : digit - 'a' + 10);
  }
  return address;
}

// Removes the first line from `text`. Empty if the line does not have the form of a symbol.
std::optional<Symbol> take_symbol(std::string_view& text, std::size_t digits) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end < digits + 3) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  const auto address = address_in(line.substr(0, digits));
  const char type = line[digits + 1];
  if (!address || line[digits] != ' ' || line[digits + 2] != ' ' || type <= ' ' || type > '~') return std::nullopt;
  text.remove_prefix(end + 1);
  return Symbol{*address, static_cast<std::uint8_t>(type), line.substr(digits + 3)};
}

bool is_padding_of(std::string_view name, const std::optional<Symbol>& next) {
  return next && name.starts_with(kPaddingPrefix) && name.substr(kPaddingPrefix.size()) == next->name;
}

// Takes names, which end with '\n'.
class Names {
 public:
  explicit Names(std::string_view names) : left_(names) {}
  std::string_view next() const {
    const std::size_t end = left_.find('\n');
    if (end == std::string_view::npos) throw Error("A symbol has no name");
    return left_.substr(0, end);
  }
  std::string_view take() {
    const std::string_view name = next();
    left_.remove_prefix(name.size() + 1);
    return name;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void append_line(std::string& text, std::uint64_t address, std::size_t digits, std::uint8_t type) {
  for (std::size_t digit = digits; digit-- > 0;) text.push_back("0123456789abcdef"[address >> (4 * digit) & 0xF]);
  text.push_back(' ');
  text.push_back(static_cast<char>(type));
  text.push_back(' ');
}

}  // namespace

std::optional<EncodedSymbols> encode_symbols(std::string_view kallsyms) {
  const std::size_t digits = std::min(kallsyms.find(' '), kallsyms.size());
  if (digits == 0 || digits > kMostDigits || kallsyms.size() > kMostPlainBytes) return std::nullopt;
  std::string types;
  std::string names;
  Payload addresses;
  std::uint64_t last = 0;
  std::optional<Symbol> symbol = take_symbol(kallsyms, digits);
  bool was_padding = false;
  while (symbol) {
    const std::optional<Symbol> next = kallsyms.empty() ? std::nullopt : take_symbol(kallsyms, digits);
    // The name of padding needs the name that follows, so padding of padding is not possible.
    const bool is_padding = is_padding_of(symbol->name, next) && !was_padding;
    types.push_back(static_cast<char>(symbol->type | (is_padding ? kIsPadding : 0)));
    append_varint(addresses, zigzag(static_cast<std::int64_t>(symbol->address - last)));
    last = symbol->address;
    if (!is_padding) names.append(symbol->name).push_back('\n');
    was_padding = is_padding;
    symbol = next;
  }
  if (!kallsyms.empty()) return std::nullopt;
  EncodedSymbols out{{}, std::move(names)};
  append_varint(out.head, digits);
  append_text(out.head, types);
  append_text(out.head, {reinterpret_cast<const char*>(addresses.data()), addresses.size()});
  append_varint(out.head, out.names.size());
  return out;
}

std::string decode_symbols(Bytes payload) {
  PayloadReader in(payload);
  const std::uint64_t digits = in.varint();
  const std::string_view types = in.text();
  const std::string_view packed = in.text();
  Names names(in.text());
  if (digits == 0 || digits > kMostDigits) throw Error("The addresses of symbols have an impossible length");
  PayloadReader addresses({reinterpret_cast<const std::uint8_t*>(packed.data()), packed.size()});
  std::string text;
  std::uint64_t address = 0;
  bool was_padding = false;
  for (const char one : types) {
    const auto type = static_cast<std::uint8_t>(one);
    const bool is_padding = (type & kIsPadding) != 0;
    if (is_padding && was_padding) throw Error("A symbol has no name");
    was_padding = is_padding;
    address += static_cast<std::uint64_t>(unzigzag(addresses.varint()));
    if (digits < kMostDigits && address >> (4 * digits) != 0) throw Error("The address of a symbol is too large");
    append_line(text, address, digits, type & static_cast<std::uint8_t>(~kIsPadding));
    if (is_padding) text += kPaddingPrefix;
    text.append(is_padding ? names.next() : names.take()).push_back('\n');
    if (text.size() > kMostPlainBytes) throw Error("The symbols are too large");
  }
  if (was_padding || !addresses.empty() || !names.empty()) throw Error("The columns of symbols differ in length");
  return text;
}

}  // namespace kmt::kmt_format
