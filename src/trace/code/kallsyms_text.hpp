// SPDX-License-Identifier: GPL-2.0-or-later
// The text of /proc/kallsyms, with lines such as "ffffffff81000000 T _text" or "ffffffffc0481000 t brd_init\t[brd]".
// Recorders keep it in columns, which need less than half the memory. A .kmt file stores these columns
// (docs/formats/kmt.md, "Symbols (type 12)"). Readers keep the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

struct SymbolColumns {
  std::size_t digits = 0;               // digits of each address
  std::string types;                    // the type letter of each symbol, and kIsPadding
  std::vector<std::uint8_t> addresses;  // signed varints (base/varint.hpp): difference from the previous address
  std::string names;                    // the rest of each line, with its '\n'; padding has none
  std::size_t text_bytes = 0;

  // The kernel pads functions (CONFIG_CALL_PADDING). The symbol of the padding has this flag in its type. Its name is
  // "__pfx_" and the name of the next symbol.
  static constexpr std::uint8_t kIsPadding = 0x80;
  static constexpr std::size_t kMostDigits = 16;
};

// Returns the text of columns from a file. Throws Error if they are damaged, or if the text has more than `most_bytes`.
std::string text_of(std::size_t digits, std::string_view types, Bytes addresses, std::string_view names,
                    std::size_t most_bytes);

// False if all addresses in the text are zero, because of kernel.kptr_restrict or missing permission.
bool has_addresses(std::string_view kallsyms);
// Returns the address of _text. Empty if it is not in the text, or hidden.
std::optional<std::uint64_t> kernel_text_address(std::string_view kallsyms);

class KallsymsText {
 public:
  KallsymsText() = default;
  KallsymsText(std::string text) : text_(std::move(text)) {}
  // Takes a text in pieces. next() returns an empty piece at the end. If a line has another form, all of the
  // text is kept as it is, because columns could not restore it.
  static KallsymsText in_columns(const std::function<std::string_view()>& next);
  static KallsymsText in_columns(std::string_view text);

  bool empty() const { return text_.empty() && columns_.types.empty(); }
  std::string text() const&;
  std::string text() &&;
  // Number of bytes of text().
  std::size_t size() const { return columns() == nullptr ? text_.size() : columns_.text_bytes; }
  // Passes on the text in pieces. A text that is kept in columns is never whole in memory.
  void write_to(const std::function<void(std::string_view)>& write) const;
  // Null if the text is not kept in columns.
  const SymbolColumns* columns() const { return columns_.types.empty() ? nullptr : &columns_; }

  bool has_addresses() const;
  std::optional<std::uint64_t> kernel_text_address() const;
  // True if the kernel has this function. Functions of modules are not searched.
  bool has_function(std::string_view function) const;
  // Returns the offset in the text of the line before the first module's line. If there are no modules, this is the
  // last line. A reader of /proc/kallsyms that stops there does not make the kernel list its modules. This matters if
  // no module is loaded: after an empty list, the same open file never shows modules that are loaded later.
  std::uint64_t in_front_of_modules() const;

 private:
  std::string text_;  // empty if columns_ has the symbols
  SymbolColumns columns_;
};

}  // namespace kmt
