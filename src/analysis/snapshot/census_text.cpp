// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/census_text.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

constexpr std::string_view kEnd = "end";
constexpr std::size_t kMostRows = 1 << 20;

using PageblockMember = std::uint64_t PageblockUse::*;
constexpr std::array<PageblockMember, 6> kPageblockMembers = {&PageblockUse::all,     &PageblockUse::free,
                                                              &PageblockUse::movable, &PageblockUse::unmovable,
                                                              &PageblockUse::mixed,   &PageblockUse::uncertain};

// Returns the numbers without the zeros at the end.
std::string numbers(std::span<const std::uint64_t> values) {
  while (!values.empty() && values.back() == 0) values = values.first(values.size() - 1);
  return fmt::format("{}", fmt::join(values, " "));
}

// Larger numbers of pages could overflow sums of bytes.
constexpr std::uint64_t kMostPages = std::uint64_t{1} << 40;

// Takes words that are numbers until one is not. Returns false if there are too many.
bool take_numbers(Words& words, std::span<std::uint64_t> values) {
  for (std::size_t i = 0; !words.empty(); ++i) {
    const auto number = whole_number(words.next(), kMostPages);
    if (!number || i >= values.size()) return false;
    values[i] = *number;
  }
  return true;
}

bool take_number(Words& words, std::uint64_t& value) {
  const auto number = whole_number(words.next());
  value = number.value_or(0);
  return number.has_value();
}

bool take_pages(Words& words, std::uint64_t& pages) { return take_number(words, pages) && pages <= kMostPages; }

std::optional<std::size_t> kind_named(std::string_view id) {
  for (std::size_t i = 0; i < kPageKinds; ++i)
    if (describe(static_cast<PageKind>(i)).id == id) return i;
  return std::nullopt;
}

bool take_kind(Words& words, PageCensus& census) {
  const auto kind = kind_named(words.next());
  return kind && take_pages(words, census.pages[*kind]) && take_numbers(words, census.blocks[*kind]);
}

bool take_flags(Words& words, PageCensus& census) {
  PagesByFlags& row = census.other_flags.emplace_back();
  const auto flags = parse_hexadecimal(words.next());
  row.flags = flags.value_or(0);
  return flags && take_pages(words, row.pages) && words.empty();
}

// "cgroup INODE "PATH" PAGES…". The path is empty if it is unknown.
bool take_cgroup(Words& words, PageCensus& census) {
  CgroupPages& cgroup = census.cgroups.emplace_back();
  if (!take_number(words, cgroup.inode)) return false;
  const std::string_view rest = words.rest();
  const std::size_t end = rest.rfind('"');
  if (!rest.starts_with('"') || end == 0) return false;
  cgroup.path = rest.substr(1, end - 1);
  Words pages(rest.substr(end + 1));
  return take_numbers(pages, cgroup.pages);
}

bool take_pageblocks(Words& words, PageblockUse& use) {
  std::uint64_t order = 0;
  std::uint64_t is_known = 0;
  if (!take_number(words, order) || order >= kPageOrders || !take_number(words, is_known)) return false;
  use.order = static_cast<unsigned>(order);
  use.order_is_known = is_known != 0;
  return std::ranges::all_of(kPageblockMembers,
                             [&](PageblockMember member) { return take_number(words, use.*member); });
}

constexpr std::array kSources = {SlabSource::none, SlabSource::kcore, SlabSource::bpf};

// "caches_in_mixed SOURCE BLOCKS UNKNOWN".
bool take_caches(Words& words, CachesInBlocks& caches) {
  const std::string_view id = words.next();
  const auto source = std::ranges::find_if(kSources, [id](SlabSource one) { return id_of(one) == id; });
  if (source == kSources.end()) return false;
  caches.source = *source;
  return take_number(words, caches.blocks) && take_pages(words, caches.unknown);
}

// "cache_in_mixed PAGES BLOCKS ALONE NAME".
bool take_cache(Words& words, CachesInBlocks& caches) {
  CacheInBlocks& row = caches.rows.emplace_back();
  const bool has_numbers =
      take_pages(words, row.pages) && take_number(words, row.blocks) && take_number(words, row.alone);
  row.cache = words.rest();
  return has_numbers;
}

bool take_line(std::string_view line, PageCensus& census) {
  Words words(line);
  const std::string_view name = words.next();
  if (name == "frames") return take_number(words, census.frames) && take_number(words, census.elapsed_ns);
  if (name == "kind") return take_kind(words, census);
  if (name == "flags") return take_flags(words, census);
  if (name == "cgroup") return take_cgroup(words, census);
  if (name == "pageblocks") return take_pageblocks(words, census.pageblocks);
  if (name == "in_mixed") return take_numbers(words, census.pageblocks.in_mixed);
  if (name == "mixed_by_unmovable") return take_numbers(words, census.pageblocks.mixed_by_unmovable);
  if (name == "reserved_blocks") return take_number(words, census.pageblocks.reserved.emplace());
  if (name == "caches_in_mixed") return take_caches(words, census.pageblocks.caches);
  if (name == "cache_in_mixed") return take_cache(words, census.pageblocks.caches);
  if (name == "caches_unknown") return census.pageblocks.caches.failure.assign(words.rest()), true;
  if (name == "note") census.notes.emplace_back(words.rest());
  return true;  // lines of later versions
}

std::string without_line_ends(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string text_of(const CachesInBlocks& caches) {
  if (!caches.failure.empty()) return fmt::format("caches_unknown {}\n", without_line_ends(caches.failure));
  if (caches.source == SlabSource::none) return {};
  std::string text = fmt::format("caches_in_mixed {} {} {}\n", id_of(caches.source), caches.blocks, caches.unknown);
  for (const CacheInBlocks& row : caches.rows)
    text += fmt::format("cache_in_mixed {} {} {} {}\n", row.pages, row.blocks, row.alone, without_line_ends(row.cache));
  return text;
}

}  // namespace

std::string census_text(const PageCensus& census) {
  std::string text = fmt::format("frames {} {}\n", census.frames, census.elapsed_ns);
  for (std::size_t i = 0; i < kPageKinds; ++i)
    if (census.pages[i] != 0)
      text += fmt::format("kind {} {} {}\n", describe(static_cast<PageKind>(i)).id, census.pages[i],
                          numbers(census.blocks[i]));
  for (const PagesByFlags& row : census.other_flags) text += fmt::format("flags {:#x} {}\n", row.flags, row.pages);
  for (const CgroupPages& cgroup : census.cgroups) {
    std::string path = cgroup.path;
    std::ranges::replace(path, '\n', '?');
    text += fmt::format("cgroup {} \"{}\" {}\n", cgroup.inode, path, numbers(cgroup.pages));
  }
  const PageblockUse& use = census.pageblocks;
  text += fmt::format("pageblocks {} {}", use.order, use.order_is_known ? 1 : 0);
  for (const PageblockMember member : kPageblockMembers) text += fmt::format(" {}", use.*member);
  text += fmt::format("\nin_mixed {}\nmixed_by_unmovable {}\n", numbers(use.in_mixed), numbers(use.mixed_by_unmovable));
  if (use.reserved) text += fmt::format("reserved_blocks {}\n", *use.reserved);
  text += text_of(use.caches);
  for (const std::string& note : census.notes) text += fmt::format("note {}\n", note);
  return text.append(kEnd).append("\n");
}

std::optional<PageCensus> census_of(std::string_view text) {
  PageCensus census;
  bool is_intact = true;
  bool has_end = false;
  std::size_t rows = 0;
  each_line(text, [&](std::string_view line) {
    has_end = has_end || line == kEnd;
    is_intact = is_intact && ++rows <= kMostRows && (has_end || take_line(line, census));
  });
  if (!is_intact || !has_end) return std::nullopt;
  return census;
}

}  // namespace kmt
