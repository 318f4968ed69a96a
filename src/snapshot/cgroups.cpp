// SPDX-License-Identifier: GPL-2.0-or-later
// Parses memory.stat and cgroup.stat of every cgroup. cgroup v1 has memory.kmem.usage_in_bytes instead of cgroup.stat.
#include <unordered_map>

#include "base/words.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

void parse_cgroups(std::string_view text, KernelMemory& memory) {
  constexpr std::string_view kStat = "/memory.stat:";
  constexpr std::string_view kCounts = "/cgroup.stat:";
  constexpr std::string_view kKernel = "/memory.kmem.usage_in_bytes:";
  // Key: path of a cgroup, as a view of `text`. Value: index in memory.cgroups.
  std::unordered_map<std::string_view, std::size_t> known;
  each_line(text, [&](std::string_view line) {
    if (line.empty()) return;
    // A cgroup's name may contain "/memory.kmem.usage_in_bytes:", so check that a number follows.
    std::size_t at = line.rfind(kKernel);
    const bool is_kernel = at != std::string_view::npos && whole_number(line.substr(at + kKernel.size())).has_value();
    std::string_view file = kKernel;
    if (!is_kernel) {
      // A cgroup's name may also contain "/memory.stat:", so the last name of a file in the line is used.
      const std::size_t stat = line.rfind(kStat);
      const std::size_t counts = line.rfind(kCounts);
      file = counts != std::string_view::npos && (stat == std::string_view::npos || counts > stat) ? kCounts : kStat;
      at = file == kCounts ? counts : stat;
    }
    if (at == std::string_view::npos) return keep_unknown("cgroups", line, memory);
    Words words(line.substr(at + file.size()));
    const std::string_view name = is_kernel ? "kmem.usage_in_bytes" : words.next();
    const auto value = whole_number(words.next(), UINT64_MAX);  // a memory limit may be UINT64_MAX
    if (name.empty() || !value || !words.empty()) return keep_unknown("cgroups", line, memory);
    const std::string_view path = line.substr(0, at);
    const auto [found, is_new] = known.try_emplace(path, memory.cgroups.size());
    if (is_new) memory.cgroups.emplace_back().path = path.empty() ? "/" : path;
    memory.cgroups[found->second].values.push_back({std::string(name), *value, false});
  });
}

}  // namespace kmt
