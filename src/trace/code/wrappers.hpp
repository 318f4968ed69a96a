// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that hide who asked for memory, and who that is in a stack. The built-in list is wrappers.txt;
// docs/wrappers.md explains it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/code/symbol_names.hpp"

namespace kmt {

class WrapperList {
 public:
  struct Entry {
    std::string glob;
    std::string why;      // may be empty
    bool hides = true;    // false: a line that starts with `!`
    bool is_name = true;  // without a glob's special characters
  };

  // Nothing is hidden.
  WrapperList() = default;
  static WrapperList built_in();
  // Appends the lines of such a list. Throws Error with `path` and the line.
  void add(std::string_view text, const std::string& path);

  // The answer of the last entry that matches. `function` is a name with or without a compiler's suffix, offset and
  // module. Addresses without a name never match.
  bool hides(std::string_view function) const;
  // The first of a stack's frames, "do_one+0x12/0x40 [module]", innermost first, whose function is not in the list.
  template <typename Frames>
  auto caller(Frames& stack) const {
    return std::ranges::find_if(stack, [this](std::string_view frame) { return !hides(frame); });
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Finds callers in stacks. Every address is looked up once.
class CallerFinder {
 public:
  // Both are borrowed.
  CallerFinder(const SymbolNames& names, const WrapperList& wrappers) : names_(names), wrappers_(wrappers) {}

  // Whether the function that the address lies in is in the list.
  bool hides(std::uint64_t address);
  // The index of the first address, innermost first, whose function is not in the list; the stack's size where all are.
  std::size_t caller(std::span<const std::uint64_t> stack);
  // Looks them up again from now on.
  void names_changed() { hidden_.clear(); }

 private:
  const SymbolNames& names_;
  const WrapperList& wrappers_;
  std::unordered_map<std::uint64_t, bool> hidden_;
};

}  // namespace kmt
