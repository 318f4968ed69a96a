// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/nodes.hpp"

#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/number.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

struct NodeColumn {
  std::string_view header;
  std::string_view name;  // in the meminfo of a node
  unsigned importance;
};
constexpr std::array kColumns = {NodeColumn{"Total", "MemTotal", 0},
                                 NodeColumn{"Free", "MemFree", 0},
                                 NodeColumn{"Used", "MemUsed", 0},
                                 NodeColumn{"Anonymous", "AnonPages", 1},
                                 NodeColumn{"File", "FilePages", 1},
                                 NodeColumn{"Slab reclaimable", "SReclaimable", 1},
                                 NodeColumn{"Slab unreclaimable", "SUnreclaim", 1},
                                 NodeColumn{"Kernel stacks", "KernelStack", 2},
                                 NodeColumn{"Page tables", "PageTables", 2},
                                 NodeColumn{"Huge pages", "HugePages_Total", 3}};

// Returns an amount of a node in bytes. Huge pages are counted in pages of the default size, which is in /proc/meminfo.
std::optional<std::uint64_t> bytes_of(const NodeMemory& node, const NodeColumn& column, const KernelMemory& memory) {
  const auto value = find_number(node.values, column.name);
  if (!value || column.name != "HugePages_Total" || *value == 0) return value;
  const auto page = find_number(memory.meminfo, "Hugepagesize");
  return page && *page != 0 && *value <= UINT64_MAX / *page ? std::optional(*value * *page) : std::nullopt;
}

}  // namespace

std::string text_nodes(const KernelMemory& memory, const TextStyle& style) {
  if (memory.nodes.size() < 2) return {};
  Table table{{{"Node", true}}, {}};
  TableRow total{{"total"}};
  for (const NodeMemory& node : memory.nodes) table.rows.push_back({{fmt::format("node {}", node.node)}});
  for (const NodeColumn& column : kColumns) {
    table.columns.push_back({std::string(column.header), false, column.importance});
    std::optional<std::uint64_t> sum = 0;
    for (std::size_t i = 0; i < memory.nodes.size(); ++i) {
      const auto bytes = bytes_of(memory.nodes[i], column, memory);
      sum = sum && bytes ? std::optional(sum_of_counts(*sum, *bytes)) : std::nullopt;
      table.rows[i].cells.push_back(bytes ? say_bytes(*bytes, style) : "-");
    }
    total.cells.push_back(sum ? say_bytes(*sum, style) : "-");
  }
  total.aside = true;
  table.rows.push_back(std::move(total));
  return "\n" + heading("Memory by NUMA node", style) + to_text(table, style);
}

}  // namespace kmt
