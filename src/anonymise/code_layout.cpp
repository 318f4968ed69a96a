// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/code_layout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/number.hpp"
#include "symbols/kallsyms_lines.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

// The start addresses that anonymised kernel and module code gets. kPlaces64 has the addresses that x86-64 uses without
// KASLR (Documentation/arch/x86/x86_64/mm.rst).
struct Places {
  std::uint64_t kernel, modules;
};
constexpr Places kPlaces64 = {0xffffffff81000000, 0xffffffffc0000000};
constexpr Places kPlaces32 = {0xc1000000, 0xf0000000};

// Values within this distance of 0 or of the largest address are not code: NULL, small constants, or ULONG_MAX, which
// ends a stack in some kernels. They are not moved, because their moved values would reveal the shift.
constexpr std::uint64_t kNoCode = 4096;

std::string line_of(const KallsymsLine& line, std::uint64_t address) {
  return fmt::format("{:016x} {} {}\n", address, line.type, line.rest);
}

}  // namespace

CodeLayout::CodeLayout(std::string_view kallsyms, unsigned word_bits, std::uint64_t secret)
    : mask_(word_bits == 32 ? 0xFFFFFFFFu : ~std::uint64_t{0}) {
  const Places& places = word_bits == 32 ? kPlaces32 : kPlaces64;
  std::optional<std::uint64_t> first, last, text, end, first_of_modules;
  for_each_kallsyms_line(kallsyms, [&](const KallsymsLine& line) {
    if (!line.module().empty()) {
      first_of_modules = std::min(first_of_modules.value_or(line.address), line.address);
      return;
    }
    first = std::min(first.value_or(line.address), line.address);
    last = std::max(last.value_or(line.address), line.address);
    if (line.name() == "_text" || line.name() == "_stext") text = std::min(text.value_or(line.address), line.address);
    if (line.name() == "_end") end = line.address;
  });
  if (!first && !first_of_modules) {
    kernel_shift_ = module_shift_ = secret & ~std::uint64_t{0xFFF};
    return;
  }
  begin_ = text.value_or(first.value_or(0));
  end_ = std::max(end.value_or(last.value_or(0)), begin_);
  kernel_shift_ = places.kernel - begin_;
  module_shift_ = first_of_modules ? places.modules - (*first_of_modules & ~std::uint64_t{0xFFF}) : kernel_shift_;
}

std::uint64_t CodeLayout::moved(std::uint64_t address) const {
  if (address < kNoCode || address > mask_ - kNoCode) return address;
  const bool is_kernel = address >= begin_ && address <= end_;
  return (address + (is_kernel ? kernel_shift_ : module_shift_)) & mask_;
}

std::string CodeLayout::kallsyms(std::string_view text) const {
  std::string result;
  result.reserve(text.size());
  for_each_kallsyms_line(text, [&](const KallsymsLine& line) {
    const bool is_kernel = line.address >= begin_ && line.address <= end_;
    if (is_kernel || !line.module().empty()) result += line_of(line, moved(line.address));
  });
  return result;
}

std::string CodeLayout::modules(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    while (!line.empty()) {
      const std::string_view word = line.substr(0, line.find(' '));
      const auto address = word.starts_with("0x") ? parse_hexadecimal(word) : std::nullopt;
      if (address)
        result += fmt::format("{:#018x}", moved(*address));
      else
        result += word;
      line.remove_prefix(std::min(word.size() + 1, line.size()));
      if (!line.empty()) result += ' ';
    }
    result += '\n';
  }
  return result;
}

std::string CodeLayout::last_addresses(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t blank = line.rfind(' ');
    if (blank == std::string_view::npos) continue;
    if (const auto address = parse_hexadecimal(line.substr(blank + 1)))
      result += fmt::format("{} {:x}\n", line.substr(0, blank), moved(*address));
  }
  return result;
}

std::string CodeLayout::module_changes(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with("- ")) {
      result += fmt::format("{}\n", line);
    } else if (line.starts_with("+ ")) {
      // The line has the format "+ NOTICED BEFORE NAME BEGIN BYTES BUILD-ID". Only the address BEGIN changes.
      std::size_t begin = 0;
      for (int word = 0; word < 4 && begin != std::string_view::npos; ++word) begin = line.find(' ', begin + 1);
      if (begin++ == std::string_view::npos) continue;
      const std::size_t end = line.find(' ', begin);
      if (end == std::string_view::npos) continue;
      if (const auto address = parse_hexadecimal(line.substr(begin, end - begin)))
        result += fmt::format("{}{:x}{}\n", line.substr(0, begin), moved(*address), line.substr(end));
    } else if (const KallsymsLine symbol = parse_kallsyms_line(line); !symbol.rest.empty()) {
      result += line_of(symbol, moved(symbol.address));
    }
  }
  return result;
}

}  // namespace kmt
