// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the caller that requested memory. Skips functions of the allocators and their wrappers. The built-in list is
// wrappers.txt; docs/wrappers.md explains the list.
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
    std::string why;  // reason for the entry; may be empty
    // True: the list hides the function; false: the line starts with `!`, so the function is shown.
    bool hides = true;
    bool is_name = true;  // true: the glob is a plain name without special characters
  };

  // Creates an empty list, which hides nothing.
  WrapperList() = default;
  static WrapperList built_in();
  // Appends lines in the format of wrappers.txt. Throws Error with `path` and the invalid line.
  void add(std::string_view text, const std::string& path);

  // True if the function is hidden: the last entry that matches it is one that hides. `function` may have a compiler's
  // suffix, an offset and a module. Addresses without a name never match.
  bool hides(std::string_view function) const;
  // Returns the first frame whose function is not hidden. The innermost frame is first; frames have the form
  // "do_one+0x12/0x40 [module]".
  template <typename Frames>
  auto caller(Frames& stack) const {
    return std::ranges::find_if(stack, [this](std::string_view frame) { return !hides(frame); });
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Finds callers in stacks. Each address is looked up only once.
class CallerFinder {
 public:
  // Both arguments must outlive this object.
  CallerFinder(const SymbolNames& names, const WrapperList& wrappers) : names_(names), wrappers_(wrappers) {}

  // True if the list hides the function at an address.
  bool hides(std::uint64_t address);
  // Returns the index of the first address whose function is not hidden. The innermost address is first. If all
  // functions are hidden, returns the size of the stack.
  std::size_t caller(std::span<const std::uint64_t> stack);
  // Discards all results, so that addresses are looked up again. Call this function when symbols have changed.
  void names_changed() { hidden_.clear(); }

 private:
  const SymbolNames& names_;
  const WrapperList& wrappers_;
  std::unordered_map<std::uint64_t, bool> hidden_;
};

}  // namespace kmt
