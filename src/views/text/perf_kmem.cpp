// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/perf_kmem.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

using Rows = std::vector<const GroupRow*>;

constexpr std::size_t kRuleWidth = 105;
constexpr std::array kMigrateColumns = {"Unmovable", "Reclaimable", "Movable", "Reserved", "CMA/Isolated", "Unknown"};
constexpr std::array kMigrateLabels = {"UNMOVABL", "RECLAIM", "MOVABLE", "RESERVED", "CMA/ISLT", "UNKNOWN"};
constexpr std::size_t kUnknownType = kMigrateColumns.size() - 1;
constexpr unsigned kLastOrder = 10;  // perf always shows all orders up to this one, even if they have no pages

std::string rule() { return std::string(kRuleWidth, '-') + "\n"; }

std::string summary_heading(std::string_view of) {
  return fmt::format("\nSUMMARY ({})\n========================\n", of);
}

std::uint64_t wasted(std::uint64_t requested, std::uint64_t allocated) {
  return allocated - std::min(requested, allocated);
}

double fragmentation(std::uint64_t requested, std::uint64_t allocated) {
  if (allocated == 0) return 0;
  return 100.0 - 100.0 * static_cast<double>(std::min(requested, allocated)) / static_cast<double>(allocated);
}

// Returns the column of a migrate type. The type is matched by name, because the kernel renumbered the types in Linux
// 4.4 and perf did not.
std::size_t column_of_type(const KeyValue& type) {
  const auto* named = std::get_if<NamedNumber>(&type);
  if (named == nullptr) return kUnknownType;
  if (named->name == "Unmovable") return 0;
  if (named->name == "Reclaimable") return 1;
  if (named->name == "Movable") return 2;
  if (named->name == "Reserve" || named->name == "HighAtomic") return 3;
  return named->name == "CMA/Isolate" || named->name == "Isolate" ? 4 : kUnknownType;
}

// Returns the call site in the format of perf: "kmem_cache_create+1f", without 0x and without the module.
std::string site_text(const KeyValue& key, bool raw_ip, std::string_view prefix) {
  const auto* code = std::get_if<CodeAddress>(&key);
  if (code == nullptr || code->address == 0) return "unknown";
  if (raw_ip || code->symbol.starts_with("0x")) return fmt::format("{}{:x}", prefix, code->address);
  std::string text = printable(code->symbol.substr(0, code->symbol.find(" [")));
  if (const std::size_t offset = text.rfind("+0x"); offset != std::string::npos) text.erase(offset + 1, 2);
  return text;
}

std::string identity(const KeyValue& key) {
  if (const auto* code = std::get_if<CodeAddress>(&key)) return fmt::format("{:x}", code->address);
  if (const auto* named = std::get_if<NamedNumber>(&key)) return fmt::format("{:x}", named->number);
  return plain_text(key);
}

// Returns the rows of an allocator. Rows that have equal values for the keys in `by` are merged.
std::vector<GroupRow> rows_by(const ReportResult& result, Allocator allocator, const std::vector<GroupKey>& by) {
  std::vector<std::size_t> places;
  places.reserve(by.size());
  for (const GroupKey key : by)
    places.push_back(static_cast<std::size_t>(std::find(result.by.begin(), result.by.end(), key) - result.by.begin()));
  std::map<std::string, Rows> alike;
  for (const GroupTable& table : result.groups)
    for (const GroupRow& row : table.rows) {
      if (table.allocator != allocator) continue;
      std::string which;
      for (const std::size_t place : places) which += identity(row.keys[place]) + "\n";
      alike[which].push_back(&row);
    }
  std::vector<GroupRow> sums;
  for (const auto& [which, rows] : alike) {
    GroupRow& sum = sums.emplace_back(sum_of(rows, {}));
    for (const std::size_t place : places) {
      sum.keys.push_back(rows.front()->keys[place]);
      sum.name += plain_text(sum.keys.back()) + " ";
    }
  }
  return sums;
}

// Compares two keys. As in perf, call sites are ordered by address.
bool precedes(const KeyValue& a, const KeyValue& b) {
  const auto* const one = std::get_if<CodeAddress>(&a);
  const auto* const other = std::get_if<CodeAddress>(&b);
  return one != nullptr && other != nullptr ? one->address < other->address : comes_before(a, b);
}

template <typename Less>
Rows ordered(const std::vector<GroupRow>& rows, const PerfKmemOptions& options, Less less) {
  if (options.sort != nullptr) return sorted_rows(rows, *options.sort);
  Rows sorted;
  for (const GroupRow& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [&less](const GroupRow* a, const GroupRow* b) {
    const auto first = less(*a);
    const auto second = less(*b);
    return first != second
               ? first > second
               : std::lexicographical_compare(a->keys.begin(), a->keys.end(), b->keys.begin(), b->keys.end(), precedes);
  });
  return sorted;
}

// Cuts the list after `limit` rows. Returns true if rows were removed.
bool cut(Rows& rows, std::size_t limit) {
  if (limit == 0 || rows.size() <= limit) return false;
  rows.resize(limit);
  return true;
}

std::string slab_table(const ReportResult& result, GroupKey key, std::size_t limit, const PerfKmemOptions& options) {
  std::vector<GroupRow> sums = rows_by(result, Allocator::slab, {key});
  std::erase_if(sums, [](const GroupRow& row) { return row.allocations == 0; });
  Rows rows = ordered(sums, options, [](const GroupRow& row) {
    return std::tuple(fragmentation(row.bytes_requested, row.bytes_allocated), row.allocations, row.bytes_allocated);
  });
  const bool more = cut(rows, limit);
  std::string out = rule();
  out += fmt::format(" {:<34} | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n",
                     key == GroupKey::call_site ? "Callsite" : "Alloc Ptr");
  out += rule();
  for (const GroupRow* row : rows)
    out += fmt::format(
        " {:<34} | {:>9}/{:<5} | {:>9}/{:<5} | {:>8} | {:>9} | {:6.3f}%\n",
        key == GroupKey::call_site ? site_text(row->keys[0], options.raw_ip, "0x") : plain_text(row->keys[0]),
        row->bytes_allocated, row->bytes_allocated / row->allocations, row->bytes_requested,
        row->bytes_requested / row->allocations, row->allocations, row->cross_cpu_frees,
        fragmentation(row->bytes_requested, row->bytes_allocated));
  if (more) out += fmt::format(" {:<34} | ...             | ...             | ...      | ...       | ...   \n", "...");
  return out + rule();
}

std::string slab_summary(const SlabTotals& slab) {
  std::string out = summary_heading("SLAB allocator");
  out += fmt::format("Total bytes requested: {}\n", slab.bytes_requested);
  out += fmt::format("Total bytes allocated: {}\n", slab.bytes_allocated);
  out += fmt::format("Total bytes freed:     {}\n", slab.bytes_freed);
  if (slab.bytes_allocated > slab.bytes_freed)
    out += fmt::format("Net total bytes allocated: {}\n", slab.bytes_allocated - slab.bytes_freed);
  out += fmt::format("Total bytes wasted on internal fragmentation: {}\n",
                     wasted(slab.bytes_requested, slab.bytes_allocated));
  out += fmt::format("Internal fragmentation: {:f}%\n", fragmentation(slab.bytes_requested, slab.bytes_allocated));
  const std::string cross =
      slab.cross_node_allocations ? fmt::format("{}", *slab.cross_node_allocations) : std::string("unknown");
  return out + fmt::format("Cross CPU allocations: {}/{}\n", cross, slab.allocations);
}

std::string slab_text(const ReportResult& result, const PerfKmemOptions& options) {
  const SlabTotals& slab = result.slab;
  if (slab.allocations + slab.failed_allocations + slab.frees + slab.null_frees == 0)
    return "No slab allocation events found (kmalloc, kfree, kmem_cache_alloc, kmem_cache_free).\n";
  std::string out;
  if (options.callers) out += slab_table(result, GroupKey::call_site, *options.callers, options);
  if (options.addresses) out += slab_table(result, GroupKey::address, *options.addresses, options);
  return out + slab_summary(slab);
}

// Positions of the keys in a row about pages. The page frame is the last key and is optional.
enum PageKey : std::uint8_t { kCaller, kOrder, kType, kGfp, kFrame };
constexpr std::array kPageKeys = {GroupKey::caller, GroupKey::order, GroupKey::migrate_type, GroupKey::gfp};

// Returns the GFP flags as a number, because perf uses its own abbreviations for the flags.
std::string gfp_number(const KeyValue& gfp) {
  const auto* named = std::get_if<NamedNumber>(&gfp);
  return named == nullptr ? "unknown" : fmt::format("{:x}", named->number);
}

std::string gfp_legend(const std::vector<GroupRow>& rows) {
  std::map<std::uint64_t, std::string> names;
  std::size_t width = 0;
  for (const GroupRow& row : rows)
    if (const auto* named = std::get_if<NamedNumber>(&row.keys[kGfp])) {
      names[named->number] = named->name;
      width = std::max(width, gfp_number(row.keys[kGfp]).size());
    }
  std::string out = "#\n# GFP flags\n# ---------\n";
  for (const auto& [number, name] : names)
    out += fmt::format("# {:08x}: {:>{}}: {}\n", number, fmt::format("{:x}", number), width, printable(name));
  return out;
}

std::string page_table(const ReportResult& result, bool by_frame, std::size_t limit, const PerfKmemOptions& options) {
  const bool live = options.live;
  std::vector<GroupKey> by(kPageKeys.begin(), kPageKeys.end());
  if (by_frame) by.push_back(GroupKey::address);
  std::vector<GroupRow> sums = rows_by(result, Allocator::pages, by);
  std::erase_if(sums, [live](const GroupRow& row) { return (live ? row.live_bytes : row.bytes_allocated) == 0; });
  Rows rows = ordered(sums, options, [live](const GroupRow& row) {
    return live ? std::tuple(row.live_bytes, row.live_allocations) : std::tuple(row.bytes_allocated, row.allocations);
  });
  const bool more = cut(rows, limit);
  std::size_t gfp_width = std::string_view("GFP flags").size();
  for (const GroupRow* row : rows) gfp_width = std::max(gfp_width, gfp_number(row->keys[kGfp]).size());

  std::string out = "\n" + rule();
  if (by_frame) out += fmt::format(" {:<16} |", "PFN");
  out += fmt::format(" {:>5} alloc (KB) | Hits      | Order | Mig.type | {:<{}} | Callsite\n", live ? "Live" : "Total",
                     "GFP flags", gfp_width);
  out += rule();
  for (const GroupRow* row : rows) {
    if (by_frame) {
      const auto* frame = std::get_if<MemoryAddress>(&row->keys[kFrame]);
      out += fmt::format(" {:>16} |", frame == nullptr ? "unknown" : fmt::format("{}", frame->value));
    }
    out += fmt::format(" {:>16} | {:>9} | {:>5} | {:>8} | {:<{}} | {}\n",
                       (live ? row->live_bytes : row->bytes_allocated) / 1024,
                       live ? row->live_allocations : row->allocations, plain_text(row->keys[kOrder]),
                       kMigrateLabels[column_of_type(row->keys[kType])], gfp_number(row->keys[kGfp]), gfp_width,
                       site_text(row->keys[kCaller], options.raw_ip, ""));
  }
  if (more) {
    if (by_frame) out += fmt::format(" {:<16} |", "...");
    out +=
        fmt::format(" {:<16} | {:<9} | {:<5} | {:<8} | {:<{}} | ...\n", "...", "...", "...", "...", "...", gfp_width);
  }
  return out + rule();
}

std::string pages_line(std::string_view label, std::uint64_t count, std::uint64_t bytes) {
  return fmt::format("{:<30}: {:>16}   [ {:>16} KB ]\n", label, count, bytes / 1024);
}

std::string page_summary(const ReportResult& result) {
  const PageTotals& pages = result.pages;
  std::uint64_t bytes_failed = 0;
  std::uint64_t bytes_of_frees = 0;
  for (const PageOrderRow& row : result.page_orders) {
    bytes_failed += (row.failed_allocations << row.order) * result.trace.page_size;
    bytes_of_frees += (row.frees << row.order) * result.trace.page_size;
  }
  std::string out = summary_heading("page allocator");
  out += pages_line("Total allocation requests", pages.allocations + pages.failed_allocations,
                    pages.bytes_allocated + bytes_failed);
  out += pages_line("Total free requests", pages.frees, bytes_of_frees) + "\n";
  out += pages_line("Total alloc+freed requests", pages.matched_frees, pages.bytes_freed);
  out += pages_line("Total alloc-only requests", pages.live_allocations, pages.live_bytes);
  out += pages_line("Total free-only requests", pages.frees - std::min(pages.frees, pages.matched_frees),
                    bytes_of_frees - std::min(bytes_of_frees, pages.bytes_freed)) +
         "\n";
  return out + pages_line("Total allocation failures", pages.failed_allocations, bytes_failed) + "\n";
}

std::string page_orders(const ReportResult& result, bool live) {
  using Counts = std::array<std::uint64_t, kMigrateColumns.size()>;
  std::map<std::uint64_t, Counts> orders;
  for (unsigned order = 0; order <= kLastOrder; ++order) orders[order] = {};
  bool unknown = false;
  for (const GroupRow& row : rows_by(result, Allocator::pages, {GroupKey::order, GroupKey::migrate_type})) {
    const std::uint64_t count = live ? row.live_allocations : row.allocations;
    const std::size_t type = column_of_type(row.keys[1]);
    if (count == 0) continue;
    orders[std::get<std::uint64_t>(row.keys[0])][type] += count;
    unknown = unknown || type == kUnknownType;
  }
  const std::size_t shown = unknown ? kMigrateColumns.size() : kUnknownType;
  std::string out = "Order";
  std::string line = "-----";
  for (std::size_t type = 0; type < shown; ++type) {
    out += fmt::format("  {:>12}", kMigrateColumns[type]);
    line += "  " + std::string(12, '-');
  }
  out += "\n" + line + "\n";
  for (const auto& [order, counts] : orders) {
    out += fmt::format("{:>5}", order);
    for (std::size_t type = 0; type < shown; ++type)
      out += fmt::format("  {:>12}", counts[type] == 0 ? "." : fmt::format("{}", counts[type]));
    out += "\n";
  }
  return out;
}

std::string page_text(const ReportResult& result, const PerfKmemOptions& options) {
  const PageTotals& pages = result.pages;
  if (pages.allocations + pages.failed_allocations + pages.frees == 0)
    return "No page allocation events found (mm_page_alloc, mm_page_free).\n";
  std::string out;
  if (options.callers || options.addresses)
    out += gfp_legend(rows_by(result, Allocator::pages, {kPageKeys.begin(), kPageKeys.end()}));
  if (options.callers) out += page_table(result, false, *options.callers, options);
  if (options.addresses) out += page_table(result, true, *options.addresses, options);
  return out + page_summary(result) + page_orders(result, options.live);
}

}  // namespace

std::vector<GroupKey> perf_kmem_keys(const PerfKmemOptions& options) {
  const bool tables = options.callers || options.addresses;
  std::vector<GroupKey> keys;
  if (options.slab && (options.callers || !tables)) keys.push_back(GroupKey::call_site);
  if (options.addresses) keys.push_back(GroupKey::address);
  if (options.pages && tables) keys.insert(keys.end(), kPageKeys.begin(), kPageKeys.end());
  if (options.pages && !tables) keys.insert(keys.end(), {GroupKey::order, GroupKey::migrate_type});
  return keys;
}

bool shows_code(const PerfKmemOptions& options) { return (options.callers || options.addresses) && !options.raw_ip; }

std::string text_perf_kmem(const ReportResult& result, const PerfKmemOptions& options) {
  return (options.slab ? slab_text(result, options) : "") + (options.pages ? page_text(result, options) : "");
}

std::string perf_kmem_warnings(const ReportResult& result) {
  std::string out;
  if (const std::string missing = missing_cpus_text(result.trace); !missing.empty()) out += missing + "\n";
  if (!result.trace.complete) out += "warning: reading was interrupted, and the rest of the trace is not counted\n";
  if (result.trace.lost_events > 0)
    out += fmt::format("warning: {} events were lost, so all totals are too small\n", result.trace.lost_events);
  for (std::size_t i = 0; i < kImperfections.size(); ++i) {
    const auto kind = static_cast<Imperfection>(i);
    if (kind == Imperfection::lost_events || kind == Imperfection::missing_cpu || kind == Imperfection::some_cpus ||
        describe(kind).severity == Severity::info)
      continue;
    if (const std::uint64_t count = result.findings.count_of(kind); count > 0)
      out += fmt::format("warning: {} times: {}\n", count, describe(kind).sentence);
  }
  return out;
}

}  // namespace kmt
