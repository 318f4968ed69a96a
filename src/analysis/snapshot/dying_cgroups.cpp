// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/dying_cgroups.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

namespace kmt {

namespace {

using Value = std::function<std::optional<std::uint64_t>(const CgroupMemory&)>;

// A cgroup and the next cgroups below it whose files were read. Null if the files of the cgroup were not read.
struct Node {
  const CgroupMemory* own = nullptr;
  std::vector<const CgroupMemory*> children;
};
using Tree = std::map<std::string_view, Node>;  // key: path

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? std::string_view("/") : path.substr(0, slash);
}

Tree tree_of(const std::vector<CgroupMemory>& cgroups) {
  Tree tree;
  for (const CgroupMemory& cgroup : cgroups) tree[cgroup.path].own = &cgroup;
  for (const CgroupMemory& cgroup : cgroups) {
    if (cgroup.path == "/") continue;
    // Copies may lack the files of a cgroup. The cgroups below it then count for the next one above.
    std::string_view parent = parent_of(cgroup.path);
    while (parent != "/" && !tree.contains(parent)) parent = parent_of(parent);
    tree[parent].children.push_back(&cgroup);
  }
  return tree;
}

// Returns the number of removed cgroups below a cgroup. Excludes those that count for existing cgroups below it. A
// cgroup that was removed while its files were read may lack the number, which then counts as 0.
std::uint64_t own_count(const Node& node) {
  constexpr std::string_view kName = "nr_dying_descendants";
  std::uint64_t rest = find_number(node.own->values, kName).value_or(0);
  for (const CgroupMemory* child : node.children) rest -= std::min(rest, find_number(child->values, kName).value_or(0));
  return rest;
}

// Returns the amount of a cgroup minus the amounts of the cgroups below it. Empty if one of the amounts is unknown.
std::optional<std::uint64_t> own_part(const Node& node, const Value& value) {
  std::optional<std::uint64_t> rest = value(*node.own);
  for (const CgroupMemory* child : node.children) {
    const std::optional<std::uint64_t> part = value(*child);
    if (!rest || !part) return std::nullopt;
    // The kernel updates the amounts one after another, so the sum may be larger than the whole.
    *rest -= std::min(*rest, *part);
  }
  return rest;
}

Value line(std::string_view name) {
  return [name](const CgroupMemory& cgroup) { return find_number(cgroup.values, name); };
}

}  // namespace

std::vector<DyingCgroups> dying_cgroups(const std::vector<CgroupMemory>& cgroups) {
  std::vector<DyingCgroups> rows;
  for (const auto& [path, node] : tree_of(cgroups)) {
    if (node.own == nullptr) continue;
    const std::uint64_t count = own_count(node);
    if (count == 0) continue;
    DyingCgroups& row = rows.emplace_back();
    row.below = path;
    row.count = count;
    row.existing = find_number(node.own->values, "nr_descendants");
    // The amounts of the root include memory that belongs to no cgroup.
    if (path == "/") continue;
    row.kernel_bytes = own_part(node, kernel_bytes);
    row.slab_bytes = own_part(node, line("slab"));
    row.percpu_bytes = own_part(node, line("percpu"));
    row.file_bytes = own_part(node, line("file"));
    row.anonymous_bytes = own_part(node, line("anon"));
  }
  std::ranges::stable_sort(rows, std::greater(), &DyingCgroups::count);
  return rows;
}

}  // namespace kmt
