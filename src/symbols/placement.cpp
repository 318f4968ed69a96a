// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/placement.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "symbols/kallsyms_lines.hpp"

namespace kmt {

namespace {

using Addresses = std::unordered_map<std::string_view, std::uint64_t>;

// Adds the address of a name. If the name has several addresses, as static functions may, the address is set to 0.
void add(Addresses& addresses, std::string_view name, std::uint64_t address) {
  const auto [entry, is_new] = addresses.try_emplace(name, address);
  if (!is_new && entry->second != address) entry->second = 0;
}

Addresses addresses_in_memory(std::string_view kallsyms, std::string_view module) {
  Addresses addresses;
  for_each_kallsyms_line(kallsyms, [&](const KallsymsLine& line) {
    if (line.module() == module) add(addresses, line.name(), line.address);
  });
  return addresses;
}

// A symbol that has one address in the file and one in memory. Symbols with several addresses are not used.
struct Pair {
  std::size_t section;
  std::uint64_t link;
  std::uint64_t run;
};

std::vector<Pair> common_symbols(const DebugInfo& debug, const Addresses& in_memory) {
  const std::vector<DebugInfo::Symbol> symbols = debug.code_symbols();
  Addresses linked;
  for (const DebugInfo::Symbol& symbol : symbols) add(linked, symbol.name, symbol.address);
  std::vector<Pair> pairs;
  for (const DebugInfo::Symbol& symbol : symbols) {
    const auto run = in_memory.find(symbol.name);
    if (run == in_memory.end() || run->second == 0 || linked.at(symbol.name) != symbol.address) continue;
    pairs.push_back({symbol.section, symbol.address, run->second});
  }
  return pairs;
}

void sort(Placement& placement) {
  std::sort(placement.stretches.begin(), placement.stretches.end(),
            [](const Placement::Stretch& a, const Placement::Stretch& b) { return a.start < b.start; });
}

}  // namespace

std::optional<std::uint64_t> Placement::link_address(std::uint64_t address) const {
  const auto after = std::upper_bound(stretches.begin(), stretches.end(), address,
                                      [](std::uint64_t at, const Stretch& stretch) { return at < stretch.start; });
  if (after == stretches.begin() || address - (after - 1)->start >= (after - 1)->size) return std::nullopt;
  return (after - 1)->link_start + (address - (after - 1)->start);
}

Placement place_kernel(const DebugInfo& debug, std::string_view kallsyms) {
  const Addresses in_memory = addresses_in_memory(kallsyms, "");
  const std::vector<DebugInfo::Symbol> symbols = debug.code_symbols();
  // The unsigned difference wraps around if the kernel was moved to lower addresses.
  std::optional<std::uint64_t> slide;
  for (const std::string_view name : {"_stext", "_text"}) {
    const auto run = in_memory.find(name);
    const auto link =
        std::find_if(symbols.begin(), symbols.end(), [name](const auto& symbol) { return symbol.name == name; });
    if (slide || run == in_memory.end() || run->second == 0 || link == symbols.end()) continue;
    slide = run->second - link->address;
  }
  if (!slide)
    throw Error("Cannot determine the kernel's load address: the trace or the file has no symbol _stext")
        .at({debug.path(), {}, {}})
        .hint(
            "The trace must contain the addresses in /proc/kallsyms: record as root or with CAP_SYSLOG, with "
            "kernel.kptr_restrict 0 or 1");
  Placement placement;
  for (const DebugInfo::Section& section : debug.sections())
    if (section.code && section.size > 0)
      placement.stretches.push_back({section.address + *slide, section.size, section.address});
  sort(placement);
  for (const Pair& pair : common_symbols(debug, in_memory)) {
    ++placement.symbols_known;
    if (pair.link + *slide == pair.run) ++placement.symbols_right;
  }
  return placement;
}

Placement place_module(const DebugInfo& debug, std::string_view module, std::string_view kallsyms,
                       std::string_view sections) {
  std::map<std::string_view, std::uint64_t> addresses;
  for (const std::string_view line : split(sections, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 3 || words[0] != module) continue;
    const std::uint64_t address = parse_leading<std::uint64_t>(words[2], 16).value_or(0);
    if (address != 0) addresses[words[1]] = address;
  }
  const std::vector<Pair> pairs = common_symbols(debug, addresses_in_memory(kallsyms, module));
  // Key: section. Value: a map from a possible start address of the section to the number of symbols that agree with
  // it.
  std::map<std::size_t, std::map<std::uint64_t, std::size_t>> votes;
  for (const Pair& pair : pairs) ++votes[pair.section][pair.run - (pair.link - debug.sections()[pair.section].address)];

  Placement placement;
  std::map<std::size_t, std::uint64_t> starts;
  for (std::size_t i = 0; i < debug.sections().size(); ++i) {
    const DebugInfo::Section& section = debug.sections()[i];
    if (!section.code || section.size == 0) continue;
    if (const auto known = addresses.find(section.name); known != addresses.end()) {
      starts[i] = known->second;
    } else if (const auto voted = votes.find(i); voted != votes.end()) {
      starts[i] = std::max_element(voted->second.begin(), voted->second.end(), [](const auto& a, const auto& b) {
                    return a.second < b.second;
                  })->first;
    } else {
      continue;
    }
    placement.stretches.push_back({starts[i], section.size, section.address});
  }
  sort(placement);
  for (const Pair& pair : pairs) {
    ++placement.symbols_known;
    const auto start = starts.find(pair.section);
    if (start != starts.end() && pair.link - debug.sections()[pair.section].address + start->second == pair.run)
      ++placement.symbols_right;
  }
  return placement;
}

}  // namespace kmt
