// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/page_census.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

bool is_outside_total(PageKind kind) { return kind == PageKind::reserved || kind == PageKind::no_page; }

class CensusText {
 public:
  CensusText(const PageCensus& census, const KernelMemory& memory, const SnapshotOptions& options,
             const TextStyle& style)
      : census_(census), page_size_(memory.page_size), options_(options), style_(style) {}

  std::string kinds(std::uint64_t total) const;
  std::string other() const;
  std::string cgroups() const;
  std::string pageblocks() const;
  std::string mixed_blocks() const;
  std::string caches_in_mixed() const;
  std::string kernel_blocks() const;
  std::string zones() const;
  std::string notes() const;

 private:
  std::string pages(std::uint64_t count) const { return say_bytes(count * page_size_, style_); }
  std::uint64_t pages_of(PageKind kind) const { return census_.pages[index_of(kind)]; }
  std::string signed_pages(std::int64_t bytes) const {
    return bytes == 0 ? "=" : say_change(bytes, Unit::bytes, style_);
  }
  std::string orders(const BlocksByOrder& blocks, std::size_t most) const;
  TableRow row_of(PageKind kind) const;
  TableRow total_row(std::uint64_t total) const;
  const PageComparison* comparison_of(PageKind kind) const;

  const PageCensus& census_;
  std::uint64_t page_size_;
  const SnapshotOptions& options_;
  const TextStyle& style_;
};

// Returns the memory in blocks of each order, largest first: "0: 1.5 GiB, 9: 84.0 MiB". Empty if all blocks are single
// pages.
std::string CensusText::orders(const BlocksByOrder& blocks, std::size_t most) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> found;
  for (std::size_t order = 0; order < blocks.size(); ++order)
    if (blocks[order] != 0) found.emplace_back(blocks[order] << order, order);
  if (found.empty() || (found.size() == 1 && found[0].second == 0)) return {};
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<std::uint64_t, std::size_t>::first);
  const std::size_t shown = style_.raw ? found.size() : std::min(most, found.size());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shown; ++i)
    texts.push_back(fmt::format("{}: {}", found[i].second, pages(found[i].first)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

const PageComparison* CensusText::comparison_of(PageKind kind) const {
  const auto row = std::ranges::find(census_.comparisons, kind, &PageComparison::kind);
  return row == census_.comparisons.end() ? nullptr : &*row;
}

TableRow CensusText::total_row(std::uint64_t total) const {
  const std::uint64_t bytes = census_.in_total * page_size_;
  const auto difference = static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(total);
  TableRow row{{"in MemTotal", say_bytes(bytes, style_), "100.0%", say_bytes(total, style_), signed_pages(difference),
                "MemTotal", ""}};
  row.aside = true;
  return row;
}

TableRow CensusText::row_of(PageKind kind) const {
  const PageComparison* const compared = comparison_of(kind);
  std::string counted, difference;
  if (compared != nullptr && compared->counted) {
    counted = *compared->counted < 0 ? say_change(*compared->counted, Unit::bytes, style_)
                                     : say_bytes(static_cast<std::uint64_t>(*compared->counted), style_);
    difference = signed_pages(static_cast<std::int64_t>(compared->bytes) - *compared->counted);
  } else if (compared != nullptr) {
    counted = "unknown";
  }
  const bool is_outside = is_outside_total(kind);
  return {{std::string(describe(kind).label), pages(pages_of(kind)),
           is_outside ? "" : say_share(pages_of(kind), census_.in_total), counted, difference,
           compared == nullptr ? "" : std::string(compared->source),
           is_outside ? "" : orders(census_.blocks[index_of(kind)], 2)}};
}

std::string CensusText::kinds(std::uint64_t total) const {
  Table table{{{"Kind of page", true, 0, true},
               {"Bytes"},
               {"Share", false, 3},
               {"Counted", false, 1},
               {"Differs by", false, 1},
               {"Counter", true, 2},
               {"Most, by block order", true, 2}},
              {}};
  std::vector<PageKind> shown;
  for (std::size_t i = 0; i < kPageKinds; ++i) {
    const auto kind = static_cast<PageKind>(i);
    const PageComparison* const row = comparison_of(kind);
    const bool is_counted = row != nullptr && row->counted.value_or(0) != 0;
    if (pages_of(kind) != 0 || is_counted || style_.raw) shown.push_back(kind);
  }
  // Both kinds of kernel pages are compared with one number, so they are listed together.
  const auto size_of = [this](PageKind kind) {
    const bool is_kernel = kind == PageKind::other || kind == PageKind::unmarked;
    return is_kernel ? other_kernel_pages(census_.pages) : pages_of(kind);
  };
  std::ranges::stable_sort(shown, [&](PageKind a, PageKind b) {
    if (is_outside_total(a) != is_outside_total(b)) return is_outside_total(b);
    return size_of(a) > size_of(b);
  });
  for (const PageKind kind : shown) table.rows.push_back(row_of(kind));
  table.rows.push_back(total_row(total));
  return "\n" +
         heading(fmt::format("Page frames: {} counted in {}", say_count(census_.frames, style_),
                             say_duration(census_.elapsed_ns, style_)),
                 style_) +
         to_text(table, style_) +
         hanging(
             "  ",
             "The counters were read before the frames. Pages change their kind while the frames are read, so small "
             "differences are normal.",
             style_);
}

// Explains the kernel pages without flags: which counters cover them, and how they are allocated.
std::string CensusText::other() const {
  const std::uint64_t count = other_kernel_pages(census_.pages);
  if (count == 0) return {};
  std::string out = "\n" + heading("Other kernel pages and the CPUs' free lists: " + pages(count), style_);
  constexpr std::size_t kMost = 6;
  std::vector<std::string> parts;
  for (const CountedKernelMemory& part : census_.other_parts)
    if (parts.size() < kMost || style_.raw)
      parts.push_back(fmt::format("{} {}", part.label,
                                  part.bytes < 0 ? say_change(part.bytes, Unit::bytes, style_)
                                                 : say_bytes(static_cast<std::uint64_t>(part.bytes), style_)));
  if (parts.size() < census_.other_parts.size())
    parts.push_back(fmt::format("{} more", census_.other_parts.size() - parts.size()));
  out += hanging("  by counter  ", fmt::format("{}", fmt::join(parts, "; ")), style_);
  BlocksByOrder blocks = census_.blocks[index_of(PageKind::other)];
  blocks[0] += census_.pages[index_of(PageKind::unmarked)];
  const std::string by_order = orders(blocks, options_.limit == 0 ? kPageOrders : options_.limit);
  out += hanging("  by order    ", by_order.empty() ? "0 only" : by_order, style_);
  std::vector<std::string> flags;
  const std::size_t shown = std::min(options_.shown(census_.other_flags.size()), style_.raw ? SIZE_MAX : kMost);
  for (std::size_t i = 0; i < shown; ++i)
    flags.push_back(
        fmt::format("{} {}", names_of_page_flags(census_.other_flags[i].flags), pages(census_.other_flags[i].pages)));
  if (shown < census_.other_flags.size()) flags.push_back(fmt::format("{} more", census_.other_flags.size() - shown));
  return out + hanging("  by flags    ", fmt::format("{}", fmt::join(flags, "; ")), style_);
}

std::string CensusText::cgroups() const {
  if (census_.cgroups.empty()) return {};
  const std::size_t shown = options_.shown(census_.cgroups.size());
  Table table{{{"Cgroup of the pages", true},
               {"Other kernel"},
               {"Page tables", false, 2},
               {"Anonymous", false, 1},
               {"File", false, 1},
               {"Shmem", false, 2}},
              {}};
  for (std::size_t i = 0; i < shown; ++i) {
    const CgroupPages& cgroup = census_.cgroups[i];
    const std::string name = cgroup.inode == 0     ? "no cgroup, with the CPUs' free lists"
                             : cgroup.path.empty() ? fmt::format("inode {}", cgroup.inode)
                                                   : ascii(cgroup.path);
    TableRow& row = table.rows.emplace_back(TableRow{{name}});
    for (const PageKind kind :
         {PageKind::other, PageKind::page_tables, PageKind::anonymous, PageKind::file, PageKind::shmem})
      row.cells.push_back(
          pages(kind == PageKind::other ? other_kernel_pages(cgroup.pages) : cgroup.pages[index_of(kind)]));
  }
  return "\n" + heading(fmt::format("Pages by cgroup, {} of {}", shown, census_.cgroups.size()), style_) +
         to_text(table, style_);
}

std::string CensusText::pageblocks() const {
  const PageblockUse& use = census_.pageblocks;
  if (use.all == 0) return {};
  std::string out = "\n" + heading(fmt::format("Pageblocks of {}: {}", pages(std::uint64_t{1} << use.order),
                                               say_count(use.all, style_)),
                                   style_);
  out +=
      hanging("  ",
              fmt::format("{} free, {} with movable pages only, {} with unmovable pages only, {} with both. In {} "
                          "others, pages without flags may be unmovable, or free pages on the CPUs' lists.",
                          say_count(use.free, style_), say_count(use.movable, style_), say_count(use.unmovable, style_),
                          say_count(use.mixed, style_), say_count(use.uncertain, style_)),
              style_);
  if (use.mixed != 0) out += mixed_blocks() + caches_in_mixed();
  return out + kernel_blocks();
}

std::string CensusText::mixed_blocks() const {
  const PageblockUse& use = census_.pageblocks;
  const auto in_mixed = [&use](PageKind kind) { return use.in_mixed[index_of(kind)]; };
  constexpr std::size_t kFew = 3;  // 2^3 pages
  std::uint64_t few = 0;
  for (std::size_t i = 0; i < kFew; ++i) few += use.mixed_by_unmovable[i];
  const std::uint64_t unmovable =
      in_mixed(PageKind::slab) + in_mixed(PageKind::page_tables) + in_mixed(PageKind::other);
  return hanging("  ",
                 fmt::format("The blocks with both hold {} of unmovable pages: slab {}, page tables {}, other kernel "
                             "pages {}. At least {} would become movable if fewer than {} pages were freed in each.",
                             pages(unmovable), pages(in_mixed(PageKind::slab)), pages(in_mixed(PageKind::page_tables)),
                             pages(in_mixed(PageKind::other)), say_number_of(few, "block", style_), 1 << kFew),
                 style_);
}

std::string CensusText::caches_in_mixed() const {
  const CachesInBlocks& caches = census_.pageblocks.caches;
  if (!caches.failure.empty())
    return hanging("  ", "The slab caches in these blocks are unknown: " + printable(caches.failure), style_);
  if (caches.rows.empty()) return {};
  Table table{{{"Slab cache in blocks with both", true, 0, true}, {"Blocks"}, {"Only it", false, 1}, {"Bytes"}}, {}};
  const std::size_t shown = options_.shown(caches.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const CacheInBlocks& row = caches.rows[i];
    table.rows.push_back(
        {{ascii(row.cache), say_count(row.blocks, style_), say_count(row.alone, style_), pages(row.pages)}});
  }
  std::string note = fmt::format(
      "These are {} of {} caches in {} blocks with slabs and movable pages. \"Only it\" counts the blocks that would "
      "become movable without this cache. The caches of the slabs were read {}.",
      shown, caches.rows.size(), say_count(caches.blocks, style_),
      caches.source == SlabSource::kcore ? "from /proc/kcore" : "by a BPF program");
  if (caches.unknown != 0) note += fmt::format(" Slabs of {} changed before they were read.", pages(caches.unknown));
  return to_text(table, style_) + hanging("  ", note, style_);
}

// Compares the blocks with those of pagetypeinfo.
std::string CensusText::kernel_blocks() const {
  const PageblockUse& use = census_.pageblocks;
  if (use.by_type.empty() || !use.reserved) return {};
  std::vector<std::string> types;
  for (const BlocksByType& type : use.by_type)
    if (type.blocks != 0) types.push_back(fmt::format("{} {}", ascii(type.type), say_count(type.blocks, style_)));
  const std::uint64_t listed = listed_blocks(use);
  const std::uint64_t counted = use.all + *use.reserved;
  std::string text = fmt::format("/proc/pagetypeinfo lists {} by type: {}. ", say_number_of(listed, "block", style_),
                                 fmt::join(types, ", "));
  if (listed == counted)
    text += "This agrees with the page frames. ";
  else if (listed > counted)
    text += fmt::format("These are {} more than the page frames show, because the file also lists blocks without RAM. ",
                        say_count(listed - counted, style_));
  else
    text += fmt::format("These are {} fewer than the page frames show. ", say_count(counted - listed, style_));
  const std::uint64_t intended = intended_for_unmovable(use);
  text += fmt::format("Unmovable pages are in {}, and {} are intended for such pages.",
                      say_number_of(use.with_unmovable(), "block", style_), say_count(intended, style_));
  if (use.with_unmovable() > intended)
    text += fmt::format(" So at least {} intended for movable pages hold unmovable pages.",
                        say_number_of(use.with_unmovable() - intended, "block", style_));
  if (const auto mixed = mixed_by_kernel(use))
    text += fmt::format(
        " The kernel counts {} mixed blocks (page_owner=on). Their type differs from the type of at least one of their "
        "pages.",
        say_count(*mixed, style_));
  return hanging("  ", text, style_);
}

std::string CensusText::zones() const {
  if (census_.zones.empty()) return {};
  std::string out;
  for (const ZoneFragmentation& zone : census_.zones) {
    const std::string why =
        !zone.index ? ""
                    : fmt::format(
                          "; an allocation of a block fails, fragmentation index {:.3f} (0: too little memory, "
                          "1: fragmentation)",
                          *zone.index);
    out += hanging(
        fmt::format("  node {} {:<8}", zone.node, ascii(zone.zone)),
        fmt::format("{:.1f}% of the free memory is in blocks smaller than a pageblock{}", 100 * zone.unusable, why),
        style_);
  }
  return out;
}

std::string CensusText::notes() const {
  std::string out;
  for (const std::string& note : census_.notes) out += hanging("  ", printable(note), style_);
  return out;
}

}  // namespace

std::string text_page_census(const PageCensus& census, const KernelMemory& memory, std::uint64_t total,
                             const SnapshotOptions& options, const TextStyle& style) {
  const CensusText text(census, memory, options, style);
  return text.kinds(total) + text.notes() + text.other() + text.cgroups() + text.pageblocks() + text.zones();
}

}  // namespace kmt
