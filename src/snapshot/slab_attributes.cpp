// SPDX-License-Identifier: GPL-2.0-or-later
// Parses /sys/kernel/slab, which has a folder for each cache, and symlinks for merged caches.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

constexpr std::array<std::pair<std::string_view, std::optional<std::uint64_t> SlabAttributes::*>, 10> kFiles = {{
    {"object_size", &SlabAttributes::object_bytes},
    {"slab_size", &SlabAttributes::slab_bytes},
    {"align", &SlabAttributes::align},
    {"order", &SlabAttributes::order},
    {"objects", &SlabAttributes::objects},
    {"total_objects", &SlabAttributes::total_objects},
    {"slabs", &SlabAttributes::slabs},
    {"partial", &SlabAttributes::partial},
    {"cpu_slabs", &SlabAttributes::cpu_slabs},
    {"slabs_cpu_partial", &SlabAttributes::cpu_partial_slabs},
}};

// Returns the total in a value. Values are like "2278 N0=2278", with the total first. The file slabs_cpu_partial is
// like "128(4) C0=64(2)". It has the number of objects, and the number of slabs in parentheses. The number of slabs is
// returned.
std::optional<std::uint64_t> total_of(std::string_view name, std::string_view value) {
  const std::size_t bracket = value.find('(');
  if (name == "slabs_cpu_partial" && bracket != std::string_view::npos)
    return leading_number(value.substr(bracket + 1));
  return leading_number(value);
}

void take_file(std::string_view name, std::string_view value, SlabAttributes& cache) {
  for (const auto& [known, member] : kFiles) {
    if (name != known) continue;
    if (const auto number = total_of(name, value)) {
      cache.*member = number;
      return;
    }
  }
  cache.others.emplace_back(name, value);
}

// True if cpu_slabs and slabs_cpu_partial are always 0. This is so since Linux 7.0, because CPUs have sheaves instead
// of slabs. If the release is unknown, the values decide: in earlier kernels, some caches always have per-CPU slabs.
bool are_constant_zeros(const std::string& release, const std::vector<SlabAttributes>& caches) {
  if (const auto version = version_of(release)) return *version >= KernelVersion{7, 0};
  return std::ranges::none_of(caches, [](const SlabAttributes& one) { return one.cpu_slabs.value_or(0) != 0; }) &&
         std::ranges::any_of(caches, [](const SlabAttributes& one) { return one.slabs.value_or(0) != 0; });
}

void forget_constant_zeros(const std::string& release, std::vector<SlabAttributes>& caches) {
  if (!are_constant_zeros(release, caches)) return;
  for (SlabAttributes& cache : caches) {
    cache.cpu_slabs.reset();
    if (cache.cpu_partial_slabs == 0u) cache.cpu_partial_slabs.reset();
  }
}

}  // namespace

void parse_slab_attributes(std::string_view text, KernelMemory& memory) {
  std::vector<SlabAttributes>& caches = memory.slab_attributes;
  std::unordered_map<std::string_view, std::size_t> known;  // key: name, as a view of `text`; value: index in `caches`
  const auto cache_named = [&](std::string_view name) -> SlabAttributes& {
    const auto [found, is_new] = known.try_emplace(name, caches.size());
    if (is_new) caches.emplace_back().name = name;
    return caches[found->second];
  };
  constexpr std::string_view kLink = " -> ";
  each_line(text, [&](std::string_view line) {
    if (line.empty()) return;
    const std::size_t slash = line.find('/');
    const std::size_t link = line.find(kLink);
    if (link != std::string_view::npos && link < slash) {
      cache_named(line.substr(link + kLink.size())).aliases.emplace_back(line.substr(0, link));
      return;
    }
    const std::size_t colon = slash == std::string_view::npos ? slash : line.find(':', slash);
    if (colon == std::string_view::npos) return keep_unknown("slab", line, memory);
    take_file(line.substr(slash + 1, colon - slash - 1), trim(line.substr(colon + 1)),
              cache_named(line.substr(0, slash)));
  });
  forget_constant_zeros(memory.release, caches);
}

}  // namespace kmt
