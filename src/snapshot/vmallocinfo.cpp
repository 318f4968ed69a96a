// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

// Functions that allocate the kernel stacks of tasks. The file lists one of them as the caller, depending on which
// functions the compiler inlined.
constexpr std::array<std::string_view, 7> kStackFunctions = {
    "alloc_thread_stack_node", "dup_task_struct", "copy_process", "kernel_clone", "_do_fork", "fork_idle",
    "create_io_thread"};

std::string_view without_offset(std::string_view symbol) { return symbol.substr(0, symbol.find('+')); }

// The values after the caller's name in a line.
struct Area {
  std::uint64_t pages = 0;
  bool vmalloc = false;
  bool has_kind = false;  // true: the line has the kind of the area, which the kernel writes after the number of pages
};

constexpr std::array<std::string_view, 6> kKinds = {"vmalloc", "vmap", "ioremap", "user", "dma-coherent", "sparse"};

Area area_of(std::string_view rest) {
  Area area;
  for (Words words(rest); !words.empty();) {
    const std::string_view word = words.next();
    constexpr std::string_view kPages = "pages=";
    if (word.starts_with(kPages)) area.pages = leading_number(word.substr(kPages.size())).value_or(0);
    area.vmalloc = area.vmalloc || word == "vmalloc";
    area.has_kind = area.has_kind || std::ranges::find(kKinds, word) != kKinds.end();
  }
  return area;
}

}  // namespace

// Parses vmallocinfo. Lines are like "0xADDRESS-0xADDRESS 20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4". Instead
// of a caller, a line may have "vm_map_ram" or "unpurged vm_area". The pages of an "unpurged vm_area" are already free.
void parse_vmallocinfo(std::string_view text, KernelMemory& memory) {
  // Key: function, as a view of `text`. Value: index in memory.vmalloc.
  std::unordered_map<std::string_view, std::size_t> known;
  std::size_t cut = 0;  // number of lines without a kind, which may be cut off
  std::size_t whole = 0;
  each_line(text, [&](std::string_view line) {
    if (line.empty()) return;
    Words words(line);
    const std::string_view range = words.next();
    // Linux 4.15 may print "0x (ptrval)-0x (ptrval)" instead of the two addresses.
    constexpr std::string_view kHidden = "(ptrval)";
    if (const std::size_t at = words.rest().rfind(kHidden); at != std::string_view::npos)
      words = Words(words.rest().substr(at + kHidden.size()));
    const std::optional<std::uint64_t> bytes = whole_number(words.next());
    if (!range.starts_with("0x") || !bytes || words.empty()) return keep_unknown("vmallocinfo", line, memory);
    const std::string_view rest = words.rest();
    const std::string_view symbol = words.next();
    const bool has_caller = symbol.find('+') != std::string_view::npos || symbol.starts_with("0x");
    const std::string_view function = has_caller ? without_offset(symbol) : rest;
    const auto [found, is_new] = known.try_emplace(function, memory.vmalloc.size());
    if (is_new) {
      VmallocCaller& caller = memory.vmalloc.emplace_back();
      caller.function = function;
      caller.stacks = std::ranges::find(kStackFunctions, function) != kStackFunctions.end();
    }
    VmallocCaller& caller = memory.vmalloc[found->second];
    const Area area = area_of(words.rest());
    if (has_caller) ++(area.has_kind ? whole : cut);
    ++caller.areas;
    caller.virtual_bytes += *bytes;
    if (area.vmalloc)
      caller.pages += area.pages;
    else
      caller.mapped_bytes += *bytes;
  });
  if (cut <= whole) return;
  memory.missing.push_back({"vmallocinfo", "its lines are cut before the number of pages, so it is not used",
                            "copy /proc/vmallocinfo as a whole"});
  memory.vmalloc.clear();
}

}  // namespace kmt
