// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/page_census.hpp"

#include "base/text.hpp"

namespace kmt {

namespace {

// Returns {"free": 12, …} without the kinds that have no pages.
Json pages_by_kind(const PagesByKind& pages) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kPageKinds; ++i)
    if (pages[i] != 0) json[std::string(describe(static_cast<PageKind>(i)).id)] = pages[i];
  return json;
}

// Returns the number of blocks by order, up to the largest order that has blocks.
Json blocks_by_order(const BlocksByOrder& blocks) {
  std::size_t orders = blocks.size();
  while (orders > 0 && blocks[orders - 1] == 0) --orders;
  Json json = Json::array();
  for (std::size_t order = 0; order < orders; ++order) json.push_back(blocks[order]);
  return json;
}

Json json_kinds(const PageCensus& census, std::uint64_t page_size) {
  Json json = Json::array();
  for (std::size_t i = 0; i < kPageKinds; ++i) {
    Json one = Json::object();
    one["kind"] = describe(static_cast<PageKind>(i)).id;
    one["pages"] = census.pages[i];
    one["bytes"] = census.pages[i] * page_size;
    one["blocks_by_order"] = blocks_by_order(census.blocks[i]);
    json.push_back(std::move(one));
  }
  return json;
}

Json json_counters(const PageCensus& census) {
  Json json = Json::array();
  for (const PageComparison& row : census.comparisons) {
    Json one = Json::object();
    one["kind"] = describe(row.kind).id;
    one["bytes"] = row.bytes;
    one["counter_bytes"] = number_or_null(row.counted);
    one["source"] = row.source;
    json.push_back(std::move(one));
  }
  return json;
}

Json json_other(const PageCensus& census, const SnapshotOptions& options) {
  Json json = Json::object();
  json["counters"] = Json::array();
  for (const CountedKernelMemory& part : census.other_parts)
    json["counters"].push_back({{"label", part.label}, {"bytes", part.bytes}});
  json["flags_total"] = census.other_flags.size();
  json["flags"] = Json::array();
  for (std::size_t i = 0; i < options.shown(census.other_flags.size()); ++i)
    json["flags"].push_back(
        {{"flags", names_of_page_flags(census.other_flags[i].flags)}, {"pages", census.other_flags[i].pages}});
  return json;
}

Json json_cgroups(const PageCensus& census, const SnapshotOptions& options) {
  Json json = Json::array();
  for (std::size_t i = 0; i < options.shown(census.cgroups.size()); ++i) {
    const CgroupPages& cgroup = census.cgroups[i];
    Json one = Json::object();
    one["path"] = text_or_null(printable(cgroup.path));
    one["inode"] = cgroup.inode == 0 ? Json(nullptr) : Json(cgroup.inode);
    one["pages"] = pages_by_kind(cgroup.pages);
    json.push_back(std::move(one));
  }
  return json;
}

Json json_caches(const CachesInBlocks& caches, const SnapshotOptions& options) {
  Json json = Json::object();
  json["source"] = caches.source == SlabSource::none ? Json(nullptr) : Json(id_of(caches.source));
  json["failure"] = text_or_null(printable(caches.failure));
  json["blocks"] = caches.blocks;
  json["unknown_pages"] = caches.unknown;
  json["rows_total"] = caches.rows.size();
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < options.shown(caches.rows.size()); ++i) {
    const CacheInBlocks& row = caches.rows[i];
    json["rows"].push_back(
        {{"cache", printable(row.cache)}, {"pages", row.pages}, {"blocks", row.blocks}, {"alone", row.alone}});
  }
  return json;
}

Json json_pagetypeinfo(const PageblockUse& use) {
  if (use.by_type.empty()) return nullptr;
  Json json = Json::object();
  json["blocks"] = listed_blocks(use);
  json["intended_for_unmovable"] = intended_for_unmovable(use);
  json["mixed"] = number_or_null(mixed_by_kernel(use));
  json["types"] = Json::array();
  for (const BlocksByType& type : use.by_type)
    json["types"].push_back(
        {{"type", printable(type.type)}, {"blocks", type.blocks}, {"mixed", number_or_null(type.mixed)}});
  return json;
}

Json json_pageblocks(const PageblockUse& use, const SnapshotOptions& options) {
  Json json = Json::object();
  json["order"] = use.order;
  json["order_is_known"] = use.order_is_known;
  json["blocks"] = use.all;
  json["free"] = use.free;
  json["movable"] = use.movable;
  json["unmovable"] = use.unmovable;
  json["mixed"] = use.mixed;
  json["uncertain"] = use.uncertain;
  json["pages_in_mixed"] = pages_by_kind(use.in_mixed);
  json["mixed_by_unmovable_pages"] = blocks_by_order(use.mixed_by_unmovable);
  json["reserved"] = number_or_null(use.reserved);
  json["caches_in_mixed"] = json_caches(use.caches, options);
  json["pagetypeinfo"] = json_pagetypeinfo(use);
  return json;
}

}  // namespace

Json json_page_census(const PageCensus& census, std::uint64_t page_size, const SnapshotOptions& options) {
  Json json = Json::object();
  json["frames"] = census.frames;
  json["elapsed_ns"] = census.elapsed_ns;
  json["in_total_bytes"] = census.in_total * page_size;
  json["kinds"] = json_kinds(census, page_size);
  json["counters"] = json_counters(census);
  json["other"] = json_other(census, options);
  json["cgroups_total"] = census.cgroups.size();
  json["cgroups"] = json_cgroups(census, options);
  json["pageblocks"] = json_pageblocks(census.pageblocks, options);
  json["fragmentation"] = Json::array();
  for (const ZoneFragmentation& zone : census.zones)
    json["fragmentation"].push_back({{"node", zone.node},
                                     {"zone", printable(zone.zone)},
                                     {"unusable", zone.unusable},
                                     {"index", number_or_null(zone.index)}});
  json["notes"] = census.notes;
  return json;
}

}  // namespace kmt
