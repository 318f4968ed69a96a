// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/kallsyms_text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/varint.hpp"

namespace kmt {

namespace {

constexpr std::string_view kPaddingPrefix = "__pfx_";

struct Symbol {
  std::uint64_t address = 0;
  std::uint8_t type = 0;
  std::string_view name;  // the rest of the line, without '\n'
  bool is_padding = false;

  std::size_t line_bytes(std::size_t digits) const {
    return digits + 3 + (is_padding ? kPaddingPrefix.size() : 0) + name.size() + 1;
  }
};

// Reads columns, which may be damaged. All functions throw Error.
class SymbolWalk {
 public:
  SymbolWalk(std::string_view types, Bytes addresses, std::string_view names)
      : types_(types), at_(addresses.data()), end_(at_ + addresses.size()), names_(names) {}
  explicit SymbolWalk(const SymbolColumns& columns) : SymbolWalk(columns.types, columns.addresses, columns.names) {}

  std::optional<Symbol> next() {
    if (types_.empty()) return std::nullopt;
    const auto type = static_cast<std::uint8_t>(types_.front());
    types_.remove_prefix(1);
    Symbol symbol;
    symbol.type = type & static_cast<std::uint8_t>(~SymbolColumns::kIsPadding);
    symbol.is_padding = (type & SymbolColumns::kIsPadding) != 0;
    std::uint64_t difference = 0;
    if (!read_varint(at_, end_, difference)) throw Error("A symbol has no address");
    address_ += static_cast<std::uint64_t>(unzigzag(difference));
    symbol.address = address_;
    const std::size_t size = names_.find('\n');
    if (size == std::string_view::npos || (symbol.is_padding && was_padding_)) throw Error("A symbol has no name");
    symbol.name = names_.substr(0, size);
    if (!symbol.is_padding) names_.remove_prefix(size + 1);
    was_padding_ = symbol.is_padding;
    return symbol;
  }

  // Call this after the last symbol.
  void end() const {
    if (was_padding_ || at_ != end_ || !names_.empty()) throw Error("The columns of symbols differ in length");
  }

 private:
  std::string_view types_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::string_view names_;
  std::uint64_t address_ = 0;
  bool was_padding_ = false;
};

void append_line(std::string& text, const Symbol& symbol, std::size_t digits) {
  for (std::size_t digit = digits; digit-- > 0;)
    text.push_back("0123456789abcdef"[symbol.address >> (4 * digit) & 0xF]);
  text.push_back(' ');
  text.push_back(static_cast<char>(symbol.type));
  text.push_back(' ');
  if (symbol.is_padding) text += kPaddingPrefix;
  text.append(symbol.name).push_back('\n');
}

// Parses a line without its '\n'. Empty if the line would not be the same after a conversion to columns and back.
std::optional<Symbol> symbol_in(std::string_view line, std::size_t digits) {
  if (line.size() < digits + 3) return std::nullopt;
  Symbol symbol;
  for (const char digit : line.substr(0, digits)) {
    const bool is_number = digit >= '0' && digit <= '9';
    if (!is_number && (digit < 'a' || digit > 'f')) return std::nullopt;
    symbol.address = symbol.address << 4 | static_cast<std::uint64_t>(is_number ? digit - '0' : digit - 'a' + 10);
  }
  const char type = line[digits + 1];
  if (line[digits] != ' ' || line[digits + 2] != ' ' || type <= ' ' || type > '~') return std::nullopt;
  symbol.type = static_cast<std::uint8_t>(type);
  symbol.name = line.substr(digits + 3);
  return symbol;
}

// Fills columns from lines. Adds a symbol only when the next one is known, which shows whether the symbol is padding.
class ColumnsBuilder {
 public:
  ColumnsBuilder() {
    // Reserved memory that is not written takes no page frames. Columns that grow by copying need twice their memory.
    columns_.types.reserve(1 << 20);
    columns_.addresses.reserve(4 << 20);
    columns_.names.reserve(16 << 20);
  }
  // Takes a line without its '\n'. Returns false if it does not have the form of a symbol.
  bool take(std::string_view line) {
    if (columns_.digits == 0) columns_.digits = std::min(line.find(' '), line.size());
    if (columns_.digits == 0 || columns_.digits > SymbolColumns::kMostDigits) return false;
    const auto symbol = symbol_in(line, columns_.digits);
    if (!symbol) return false;
    add_held(symbol->name);
    held_ = symbol;
    held_name_ = symbol->name;
    held_->name = held_name_;
    return true;
  }

  SymbolColumns finish() {
    add_held({});
    return std::move(columns_);
  }

 private:
  void add_held(std::string_view next_name) {
    if (!held_) return;
    Symbol& symbol = *held_;
    // The name of padding needs the name that follows, so padding of padding is not possible.
    symbol.is_padding = !was_padding_ && symbol.name.starts_with(kPaddingPrefix) && !next_name.empty() &&
                        symbol.name.substr(kPaddingPrefix.size()) == next_name;
    columns_.types.push_back(static_cast<char>(symbol.type | (symbol.is_padding ? SymbolColumns::kIsPadding : 0)));
    append_varint(columns_.addresses, zigzag(static_cast<std::int64_t>(symbol.address - last_address_)));
    last_address_ = symbol.address;
    if (!symbol.is_padding) columns_.names.append(symbol.name).push_back('\n');
    columns_.text_bytes += columns_.digits + 3 + symbol.name.size() + 1;
    was_padding_ = symbol.is_padding;
    held_.reset();
  }

  SymbolColumns columns_;
  std::optional<Symbol> held_;
  std::string held_name_;
  std::uint64_t last_address_ = 0;
  bool was_padding_ = false;
};

}  // namespace

std::string text_of(std::size_t digits, std::string_view types, Bytes addresses, std::string_view names,
                    std::size_t most_bytes) {
  if (digits == 0 || digits > SymbolColumns::kMostDigits)
    throw Error("The addresses of symbols have an impossible length");
  std::string text;
  text.reserve(std::min(most_bytes, types.size() * (digits + 4) + 2 * names.size()));
  SymbolWalk walk(types, addresses, names);
  while (const auto symbol = walk.next()) {
    if (digits < SymbolColumns::kMostDigits && symbol->address >> (4 * digits) != 0)
      throw Error("The address of a symbol is too large");
    append_line(text, *symbol, digits);
    if (text.size() > most_bytes) throw Error("The symbols are too large");
  }
  walk.end();
  return text;
}

bool has_addresses(std::string_view kallsyms) {
  for (const std::string_view line : split(kallsyms, '\n'))
    if (line.substr(0, line.find(' ')).find_first_not_of('0') != std::string_view::npos) return true;
  return false;
}

std::optional<std::uint64_t> kernel_text_address(std::string_view kallsyms) {
  const std::size_t at = kallsyms.find(" T _text\n");
  if (at == kallsyms.npos) return std::nullopt;
  const std::size_t line = kallsyms.rfind('\n', at) + 1;  // npos + 1 is 0
  const auto address = parse_number<std::uint64_t>(kallsyms.substr(line, at - line), 16);
  return address.value_or(0) == 0 ? std::nullopt : address;
}

KallsymsText KallsymsText::in_columns(const std::function<std::string_view()>& next) {
  ColumnsBuilder builder;
  std::string rest;  // begins with an incomplete line
  for (std::string_view piece = next(); !piece.empty(); piece = next()) {
    rest += piece;
    std::size_t begin = 0;
    for (std::size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n', begin)) {
      if (!builder.take(std::string_view(rest).substr(begin, end - begin))) break;
      begin = end + 1;
    }
    rest.erase(0, begin);
    if (rest.find('\n') != rest.npos) break;  // a line has another form
  }
  KallsymsText kept;
  kept.columns_ = builder.finish();
  if (rest.empty()) return kept;
  std::string text = std::move(kept).text() + rest;
  for (std::string_view piece = next(); !piece.empty(); piece = next()) text += piece;
  return text;
}

KallsymsText KallsymsText::in_columns(std::string_view text) {
  return in_columns([&text] { return std::exchange(text, {}); });
}

std::string KallsymsText::text() const& {
  const SymbolColumns* const own = columns();
  return own == nullptr ? text_ : text_of(own->digits, own->types, own->addresses, own->names, own->text_bytes);
}

std::string KallsymsText::text() && { return columns() == nullptr ? std::move(text_) : std::as_const(*this).text(); }

void KallsymsText::write_to(const std::function<void(std::string_view)>& write) const {
  if (columns() == nullptr) {
    if (!text_.empty()) write(text_);
    return;
  }
  constexpr std::size_t kPieceBytes = 64 << 10;
  std::string piece;
  SymbolWalk walk(columns_);
  while (const auto symbol = walk.next()) {
    append_line(piece, *symbol, columns_.digits);
    if (piece.size() < kPieceBytes) continue;
    write(piece);
    piece.clear();
  }
  if (!piece.empty()) write(piece);
}

bool KallsymsText::has_addresses() const {
  if (columns() == nullptr) return kmt::has_addresses(text_);
  return std::ranges::any_of(columns_.addresses, [](std::uint8_t byte) { return byte != 0; });
}

std::optional<std::uint64_t> KallsymsText::kernel_text_address() const {
  if (columns() == nullptr) return kmt::kernel_text_address(text_);
  SymbolWalk walk(columns_);
  while (const auto symbol = walk.next())
    if (symbol->name == "_text" && symbol->type == 'T' && !symbol->is_padding)
      return symbol->address == 0 ? std::nullopt : std::optional(symbol->address);
  return std::nullopt;
}

bool KallsymsText::has_function(std::string_view function) const {
  const std::string& searched = columns() == nullptr ? text_ : columns_.names;
  const std::string whole = fmt::format("{}{}\n", columns() == nullptr ? ' ' : '\n', function);
  // std::string::find() takes five times as long, because each line of the text has several blanks.
  return ::memmem(searched.data(), searched.size(), whole.data(), whole.size()) != nullptr ||
         (columns() != nullptr && searched.starts_with(std::string_view(whole).substr(1)));
}

std::uint64_t KallsymsText::in_front_of_modules() const {
  if (columns() == nullptr) {
    const std::string_view text = text_;
    std::size_t line = text.substr(0, text.find("]\n")).rfind('\n') + 1;  // if rfind() returns npos, npos + 1 is 0
    if (line > 0) line = text.substr(0, line - 1).rfind('\n') + 1;
    return line;
  }
  std::uint64_t line = 0;
  std::uint64_t line_before = 0;
  SymbolWalk walk(columns_);
  while (const auto symbol = walk.next()) {
    if (symbol->name.ends_with(']')) break;
    line_before = line;
    line += symbol->line_bytes(columns_.digits);
  }
  return line_before;
}

}  // namespace kmt
