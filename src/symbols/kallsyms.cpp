// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kallsyms.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "symbols/kallsyms_lines.hpp"

namespace kmt {

Kallsyms::Kallsyms(std::string_view text, std::vector<LoadedModule> modules, std::string module_directories)
    : text_(text), modules_(std::move(modules)), module_directories_(std::move(module_directories)) {
  text_ = text_.substr(0, std::numeric_limits<std::uint32_t>::max());
  constexpr std::size_t kTypicalLine = 40;
  symbols_.reserve(text_.size() / kTypicalLine);
  bool sorted = true;
  for_each_kallsyms_line(text_, [&](const KallsymsLine& line) {
    if (!symbols_.empty() && line.address < symbols_.back().address) sorted = false;
    symbols_.push_back({line.address, static_cast<std::uint32_t>(line.rest.data() - text_.data())});
  });
  // A stable sort keeps the order of symbols at the same address, so the first of them is used.
  if (!sorted)
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  const auto last = std::unique(symbols_.begin(), symbols_.end(),
                                [](const Symbol& a, const Symbol& b) { return a.address == b.address; });
  symbols_.erase(last, symbols_.end());
}

bool Kallsyms::is_after_module(const Symbol& symbol, std::uint64_t address) const {
  return std::ranges::any_of(modules_, [&](const LoadedModule& module) {
    return module.begin != 0 && module.begin <= symbol.address && symbol.address < module.end() &&
           module.end() <= address;
  });
}

const Kallsyms::Symbol* Kallsyms::find(std::uint64_t address) const {
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *(after - 1);
  if (after == symbols_.end() && symbol.address != address) return nullptr;
  return is_after_module(symbol, address) ? nullptr : &symbol;
}

KallsymsLine Kallsyms::line_of(const Symbol& symbol) const {
  const std::string_view rest = text_.substr(symbol.name_offset);
  return {symbol.address, rest.substr(0, rest.find('\n'))};
}

std::string Kallsyms::name(std::uint64_t address) const {
  const Symbol* symbol = find(address);
  if (symbol == nullptr) return fmt::format("{:#x}", address);
  const KallsymsLine line = line_of(*symbol);
  std::string result = fmt::format("{}+{:#x}", line.name(), address - symbol->address);
  if (const std::string_view module = line.module(); !module.empty()) result += fmt::format(" [{}]", module);
  return result;
}

std::optional<std::string_view> Kallsyms::module(std::uint64_t address) const {
  const Symbol* symbol = find(address);
  return symbol == nullptr ? std::nullopt : std::optional(line_of(*symbol).module());
}

std::optional<FoundSymbol> Kallsyms::symbol(std::uint64_t address) const {
  const Symbol* const found = find(address);
  if (found == nullptr) return std::nullopt;
  const KallsymsLine line = line_of(*found);
  const char type = found->name_offset >= 2 ? text_[found->name_offset - 2] : '\0';
  return FoundSymbol{line.name(), line.module(), address - found->address, type};
}

std::string Kallsyms::text_for(std::span<const std::uint64_t> addresses) const {
  std::vector<const Symbol*> wanted;
  for (const std::uint64_t address : addresses)
    if (const Symbol* const symbol = find(address); symbol != nullptr) {
      wanted.push_back(symbol);
      if (symbol != &symbols_.back()) wanted.push_back(symbol + 1);
    }
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::string text;
  for (const Symbol* const symbol : wanted)
    text += fmt::format("{:016x} t {}\n", symbol->address, line_of(*symbol).rest);
  return text;
}

}  // namespace kmt
