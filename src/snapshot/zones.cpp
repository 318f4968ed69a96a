// SPDX-License-Identifier: GPL-2.0-or-later
// Parses zoneinfo, buddyinfo and pagetypeinfo, which list the pages of each zone.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

// The start of a line such as "Node 0, zone   DMA32…". `rest` is the text after the zone's name.
struct ZoneName {
  unsigned node = 0;
  std::string_view zone;
  std::string_view rest;
};

std::optional<ZoneName> zone_name_of(std::string_view line) {
  Words words(line);
  if (words.next() != "Node") return std::nullopt;
  const auto node = leading_number(words.next());
  if (!node || *node > 0xFFFF || words.next() != "zone") return std::nullopt;
  std::string_view zone = words.next();
  if (zone.ends_with(',')) zone.remove_suffix(1);
  if (zone.empty()) return std::nullopt;
  return ZoneName{static_cast<unsigned>(*node), zone, words.rest()};
}

// Finds zones by node and name, so that the values of several files are added to one MemoryZone.
class Zones {
 public:
  explicit Zones(KernelMemory& memory) : zones_(memory.zones) {
    for (std::size_t i = 0; i < zones_.size(); ++i) known_.try_emplace({zones_[i].node, zones_[i].name}, i);
  }
  // Returns the zone with this name, and adds it if it is new. The reference is valid until the next call.
  MemoryZone& named(const ZoneName& name) {
    const auto [found, is_new] = known_.try_emplace({name.node, std::string(name.zone)}, zones_.size());
    if (is_new) {
      MemoryZone& zone = zones_.emplace_back();
      zone.node = name.node;
      zone.name = name.zone;
    }
    return zones_[found->second];
  }

 private:
  std::vector<MemoryZone>& zones_;
  std::map<std::pair<unsigned, std::string>, std::size_t> known_;
};

std::optional<std::vector<std::uint64_t>> numbers_of(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (Words words(text); !words.empty();) {
    std::string_view word = words.next();
    if (word.starts_with('>')) word.remove_prefix(1);  // ">100000" means that the kernel stopped counting
    const auto number = whole_number(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Adds a note if the kernel stopped counting. It counts at most 100000 blocks of a list, because it holds a lock.
void note_limit(std::string_view file, std::string_view text, KernelMemory& memory) {
  if (text.find('>') != text.npos)
    memory.missing.push_back({std::string(file),
                              "the kernel stops counting at 100000 blocks of a list: the file has "
                              "\">100000\", and there may be more",
                              ""});
}

}  // namespace

// Parses zoneinfo. The values of a zone are lines "NAME NUMBER" after the line with the zone's name. In per-CPU lists,
// each name ends with a colon: "cpu:" is a CPU, and "count:" the number of pages in its list. The first zone of a node
// also lists values of the whole node, which are ignored.
void parse_zoneinfo(std::string_view text, KernelMemory& memory) {
  Zones zones(memory);
  MemoryZone* zone = nullptr;
  bool of_node = false;
  each_line(text, [&](std::string_view line) {
    if (line.starts_with("Node ")) {
      const auto name = zone_name_of(line);
      if (!name) return keep_unknown("zoneinfo", line, memory);
      zone = &zones.named(*name);
      of_node = false;
      return;
    }
    Words words(line);
    std::string_view name = words.next();
    if (name == "per-node" || name == "pages") of_node = name == "per-node";
    if (name == "pages") name = words.next();  // a line such as "pages free 2298"
    const auto value = whole_number(words.next());
    if (zone == nullptr || of_node || !value || !words.empty()) return;
    constexpr std::uint64_t kMostCpus = 8192;  // NR_CPUS in the largest kernel configurations
    if (name == "cpu:" && *value < kMostCpus)
      memory.cpus = std::max(memory.cpus.value_or(0), static_cast<unsigned>(*value) + 1);
    else if (name == "count:")
      zone->cpu_list_pages = zone->cpu_list_pages.value_or(0) + *value;
    else if (name == "start_pfn:")  // the last line of a zone
      zone->has_end = true;
    else if (!name.ends_with(':'))
      zone->values.push_back({std::string(name), *value, false});
  });
}

void parse_buddyinfo(std::string_view text, KernelMemory& memory) {
  Zones zones(memory);
  each_line(text, [&](std::string_view line) {
    if (line.empty()) return;
    const auto name = zone_name_of(line);
    auto free = name ? numbers_of(name->rest) : std::nullopt;
    if (!free) return keep_unknown("buddyinfo", line, memory);
    zones.named(*name).free = std::move(*free);
  });
}

// Adds the tables of pageblocks in pagetypeinfo, and sums up the zones. A line with the names of the types starts each
// table. The text has these tables for each node.
class BlockTables {
 public:
  explicit BlockTables(KernelMemory& memory) : types_(memory.blocks_by_type) {}

  void add(std::string_view line) {
    if (line.starts_with(kBlocks)) return begin(line.substr(kBlocks.size()), false);
    if (line.starts_with(kMixed)) return begin(line.substr(kMixed.size()), true);
    const auto name = zone_name_of(line);
    const auto numbers = name ? numbers_of(name->rest) : std::nullopt;
    if (!numbers || numbers->size() > columns_.size()) return columns_.clear();
    for (std::size_t i = 0; i < numbers->size(); ++i) {
      BlocksByType& type = types_[columns_[i]];
      if (is_mixed_)
        type.mixed = type.mixed.value_or(0) + (*numbers)[i];
      else
        type.blocks += (*numbers)[i];
    }
  }

 private:
  static constexpr std::string_view kBlocks = "Number of blocks type";
  static constexpr std::string_view kMixed = "Number of mixed blocks";

  void begin(std::string_view names, bool is_mixed) {
    constexpr std::size_t kMostTypes = 32;  // in all tables; Linux 7.2 has eight
    is_mixed_ = is_mixed;
    columns_.clear();
    for (Words words(names); !words.empty() && columns_.size() < kMostTypes;) {
      const std::string_view name = words.next();
      const auto found = std::ranges::find(types_, name, &BlocksByType::type);
      if (found == types_.end() && types_.size() == kMostTypes) return columns_.clear();
      columns_.push_back(static_cast<std::size_t>(found - types_.begin()));
      if (found == types_.end()) types_.push_back({std::string(name), 0, std::nullopt});
    }
  }

  std::vector<BlocksByType>& types_;
  std::vector<std::size_t> columns_;  // indices into types_
  bool is_mixed_ = false;
};

// Parses pagetypeinfo: free blocks by migrate type and order, and pageblocks by migrate type.
void parse_pagetypeinfo(std::string_view text, KernelMemory& memory) {
  BlockTables blocks(memory);
  each_line(text, [&](std::string_view line) {
    const std::size_t at = line.find(", type ");
    if (at == std::string_view::npos || !line.starts_with("Node ")) return blocks.add(line);
    const auto name = zone_name_of(line.substr(0, at));
    Words words(line.substr(at + std::string_view(", type ").size()));
    const std::string_view type = words.next();
    auto free = numbers_of(words.rest());
    if (!name || type.empty() || !free) return keep_unknown("pagetypeinfo", line, memory);
    memory.free_by_type.push_back({name->node, std::string(name->zone), std::string(type), std::move(*free)});
  });
  note_limit("pagetypeinfo", text, memory);
}

}  // namespace kmt
