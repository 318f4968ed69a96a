// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot.hpp"

#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "trace/tasks/pod_names.hpp"
#include "views/text/lines.hpp"
#include "views/text/snapshot/dying_cgroups.hpp"
#include "views/text/snapshot/health.hpp"
#include "views/text/snapshot/nodes.hpp"
#include "views/text/snapshot/owners.hpp"
#include "views/text/snapshot/page_census.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string say_amount(std::int64_t amount, Unit unit, const TextStyle& style) {
  std::string text = say_change(amount, unit, style);
  return amount < 0 ? text : text.substr(1);
}

std::string signed_bytes(std::int64_t bytes, const TextStyle& style) { return say_amount(bytes, Unit::bytes, style); }

std::string share(std::int64_t bytes, std::uint64_t total) {
  return bytes < 0 ? "" : say_share(static_cast<std::uint64_t>(bytes), total);
}

std::string in_brackets(const std::string& text) { return text.empty() ? text : " (" + ascii(text) + ")"; }

std::string title(const KernelMemory& memory) {
  std::string text = "Kernel memory";
  if (const CgroupLimit* const cgroup = limited_cgroup(memory))
    text = fmt::format("Memory of the cgroup {}", cgroup->memory.path.empty() ? "?" : ascii(cgroup->memory.path)) +
           in_brackets(workload_name(cgroup->memory.path, memory.pods));
  if (!memory.release.empty()) text += ", Linux " + printable(memory.release);
  if (!memory.machine.empty()) text += ' ' + printable(memory.machine);
  if (!memory.host.empty()) text += " on " + printable(memory.host);
  if (memory.unix_ns != 0) text += ", " + say_time(memory.unix_ns);
  return text;
}

std::string line_label(const BalanceLine& line) { return std::string(std::size_t{2} * line.depth, ' ') + line.label; }

// Returns the files or numbers that contradict each other, as text. A line of the balance sheet with a negative amount
// shows a contradiction.
std::string contradictions_text(const SnapshotResult& result, const TextStyle& style) {
  const bool is_log = result.memory.oom.has_value();
  const char* const what = is_log ? "numbers of the report" : "files";
  const char* const why = is_log ? "The kernel reads them one after the other, and other CPUs change them meanwhile."
                                 : "They are read one after the other, and kernels round and delay their counters.";
  std::string out;
  for (const BalanceLine& line : result.sheet)
    if (line.is_contradiction() && !line.source.empty())
      out += hanging("  ",
                     fmt::format("\"{}\" is negative, because the {} contradict each other: {}. {}", line.label, what,
                                 line.source, why),
                     style);
  constexpr std::int64_t kMuch = 10;  // a tenth of all memory
  const auto unaccounted = std::ranges::find(result.sheet, "unaccounted", &BalanceLine::id);
  if (!is_log && unaccounted != result.sheet.end() && unaccounted->known &&
      unaccounted->bytes < -static_cast<std::int64_t>(result.total) / kMuch)
    out +=
        hanging("  ",
                "In a container, MemTotal may be the limit of the container, while other lines show the memory of the "
                "whole machine.",
                style);
  return out;
}

std::string amount_text(const BalanceLine& line, const TextStyle& style) {
  if (!line.known) return "unknown";
  return (line.at_least ? "at least " : "") + signed_bytes(line.bytes, style);
}

// Returns the balance sheet as text. A narrow table first drops the column of shares and then shortens the column of
// sources. Labels are never shortened.
std::string sheet_text(const SnapshotResult& result, const TextStyle& style) {
  constexpr unsigned kWithShares = 90;
  constexpr unsigned kOthers = 48;
  const bool has_shares = style.raw || style.width >= kWithShares;
  constexpr unsigned kAtLeast = 9;  // length of "at least "
  const unsigned limits = std::ranges::any_of(result.sheet, &BalanceLine::at_least) ? kAtLeast : 0;
  const unsigned room = style.width - std::min(style.width, kOthers + limits + (has_shares ? 8 : 0));
  const auto shortened = [&](const std::string& source) {
    return style.raw || source.size() <= room ? source : source.substr(0, std::max(room, 2u) - 2) + "..";
  };
  Table table{{{"Where it is", true}, {"Bytes"}}, {}};
  if (has_shares) table.columns.push_back({"Share"});
  table.columns.push_back({"Source", true});
  const auto add = [&](const std::string& label, const std::string& bytes, const std::string& part,
                       const std::string& source) -> TableRow& {
    TableRow& row = table.rows.emplace_back(TableRow{{label, bytes}});
    if (has_shares) row.cells.push_back(part);
    row.cells.push_back(shortened(source));
    return row;
  };
  for (const BalanceLine& line : result.sheet) {
    if (line.bytes == 0 && line.known && !style.raw && line.id != "unaccounted") continue;
    TableRow& row = add(line_label(line), amount_text(line, style),
                        line.depth == 0 && line.is_exact() && result.total != 0 ? share(line.bytes, result.total) : "",
                        line.source);
    row.aside = !line.counted;
    if (line.depth == 0) row.emphasis = line.id == "unaccounted" ? Emphasis::warning : Emphasis::heading;
  }
  const char* const source = !result.memory.oom                       ? "meminfo: MemTotal"
                             : limited_cgroup(result.memory)          ? "oom: memory: usage"
                             : !result.memory.oom->has_total_of_zones ? "oom: pages RAM - pages reserved"
                                                                      : "oom: managed, all zones";
  if (result.total == 0)
    add("total", "unknown", "", "the report is cut").aside = true;
  else
    add("total", say_bytes(result.total, style), "100.0%", source).aside = true;
  return to_text(table, style) +
         hanging("  ", "Lines in brackets are remarks: their bytes are already part of other lines.", style) +
         contradictions_text(result, style);
}

std::string caches_text(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style) {
  if (result.caches.empty()) return {};
  const auto rows = shown_caches(result, options);
  const auto any = [](const Column<SlabCacheUse>&) { return true; };
  return counted_heading(fmt::format("Slab caches by {}", options.sort->key), rows.size(), result.caches.size(),
                         style) +
         to_text(make_table(slab_cache_columns(), rows, style.raw, any), style);
}

std::string vmalloc_text(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style) {
  const KernelMemory& memory = result.memory;
  if (memory.vmalloc.empty()) return {};
  Table table{{{"Function", true}, {"Bytes"}, {"Areas"}, {"Virtual", false, 2}, {"Maps others'", false, 3}}, {}};
  const auto rows = largest(memory.vmalloc, options, [](const VmallocCaller& one) { return one.pages; });
  for (const VmallocCaller* caller : rows)
    table.rows.push_back({{ascii(caller->function) + (caller->stacks ? " (tasks' stacks)" : ""),
                           say_bytes(caller->pages * memory.page_size, style), say_count(caller->areas, style),
                           say_bytes(caller->virtual_bytes, style), say_bytes(caller->mapped_bytes, style)}});
  return counted_heading("vmalloc by caller", rows.size(), memory.vmalloc.size(), style) + to_text(table, style);
}

std::string cgroups_text(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style) {
  const std::vector<CgroupMemory>& cgroups = result.memory.cgroups;
  if (cgroups.empty()) return {};
  const auto rows = shown_cgroups(result, options);
  const auto workload = [&](const std::string& path) { return workload_name(path, result.memory.pods); };
  const bool has_workloads =
      std::ranges::any_of(rows, [&](const CgroupMemory* one) { return !workload(one->path).empty(); });
  Table table{{{"Cgroup, with children", true},
               {"Kernel"},
               {"Slab", false, 1},
               {"Sockets", false, 3},
               {"Percpu", false, 3},
               {"vmalloc", false, 4},
               {"User"}},
              {}};
  if (has_workloads) table.columns.push_back({"Container", true, 2});
  for (const CgroupMemory* cgroup : rows) {
    const auto value = [&](std::string_view name) {
      return bytes_or_unknown(find_number(cgroup->values, name), style);
    };
    table.rows.push_back(
        {{ascii(cgroup->path), bytes_or_unknown(kernel_bytes(*cgroup), style), value("slab"), value("sock"),
          value("percpu"), value("vmalloc"), bytes_or_unknown(user_bytes(*cgroup), style)}});
    if (has_workloads) table.rows.back().cells.push_back(ascii(workload(cgroup->path)));
  }
  return counted_heading("Cgroups by kernel memory", rows.size(), cgroups.size(), style) + to_text(table, style);
}

// Compares the free pages of all zones, including the CPUs' lists, with MemFree.
std::string free_remark(const KernelMemory& memory, std::uint64_t free, std::uint64_t on_cpus, const TextStyle& style) {
  const std::uint64_t in_zones = free * memory.page_size;
  const std::string sum = fmt::format("Free memory and the per-CPU lists are {} together", say_bytes(in_zones, style));
  const auto counted = find_number(memory.meminfo, "MemFree");
  if (!counted) return sum + ".";
  // Some kernels in virtual machines count free memory that is not in any zone.
  constexpr std::uint64_t kShare = 16;
  constexpr std::uint64_t kLittle = 1 << 20;
  const std::uint64_t in_meminfo = *counted + on_cpus * memory.page_size;
  const std::uint64_t change = in_meminfo / kShare + kLittle;  // other CPUs change the numbers meanwhile
  if (in_meminfo > in_zones + change)
    return sum + fmt::format("; {} counts {} more, {}.", memory.oom ? "the report" : "meminfo",
                             say_bytes(in_meminfo - in_zones, style),
                             memory.oom ? "in zones that are not shown"
                                        : "outside of these zones, or the files are of different times");
  if (in_zones > in_meminfo + change)
    return sum + fmt::format("; {} counts {} less: the numbers contradict each other.",
                             memory.oom ? "the report" : "meminfo", say_bytes(in_zones - in_meminfo, style));
  return sum + ". This is \"free\" above, except for changes while the files were read.";
}

std::string zones_text(const SnapshotResult& result, const TextStyle& style) {
  const KernelMemory& memory = result.memory;
  Table table{{{"Zone", true}, {"Managed"}, {"Free"}, {"On CPUs' lists", false, 2}, {"Largest free block", false, 1}},
              {}};
  const auto in_bytes = [&](std::uint64_t pages) { return say_bytes(pages * memory.page_size, style); };
  std::uint64_t all_managed = 0;
  std::uint64_t all_free = 0;
  std::uint64_t all_on_cpus = 0;
  bool knows_managed = true;
  bool knows_all_free = true;
  bool knows_cpu_lists = true;
  for (const MemoryZone& zone : memory.zones) {
    std::uint64_t in_blocks = 0;
    std::string largest_block = "-";
    for (std::size_t order = 0; order < std::min<std::size_t>(zone.free.size(), 40); ++order) {
      in_blocks += zone.free[order] << order;
      if (zone.free[order] != 0)
        largest_block = fmt::format("{} (order {})", in_bytes(std::uint64_t{1} << order), order);
    }
    const auto managed = find_number(zone.values, "managed");
    const auto counted = find_number(zone.values, "free");
    const bool knows_free = counted || !zone.free.empty();
    const std::uint64_t free = counted.value_or(in_blocks);
    if (managed.value_or(0) == 0 && free == 0 && zone.cpu_list_pages.value_or(0) == 0) continue;
    all_managed += managed.value_or(0);
    knows_managed = knows_managed && managed;
    all_free += free;
    knows_all_free = knows_all_free && knows_free;
    all_on_cpus += zone.cpu_list_pages.value_or(0);
    knows_cpu_lists = knows_cpu_lists && zone.cpu_list_pages.has_value();
    table.rows.push_back({{fmt::format("node {} {}", zone.node, ascii(zone.name)), managed ? in_bytes(*managed) : "-",
                           knows_free ? in_bytes(free) : "-",
                           zone.cpu_list_pages ? in_bytes(*zone.cpu_list_pages) : "-", largest_block}});
  }
  if (table.rows.empty()) return {};
  table.rows.push_back(
      {{"total", knows_managed ? in_bytes(all_managed) : "-", knows_all_free ? in_bytes(all_free) : "-",
        knows_cpu_lists ? in_bytes(all_on_cpus) : "-", ""}});
  table.rows.back().aside = true;
  std::string zones = "\n" + heading("Zones", style) + to_text(table, style);
  if (!knows_all_free) return zones;
  return zones + hanging("  ", free_remark(memory, all_free + all_on_cpus, all_on_cpus, style), style);
}

// Shows which task needed memory, which task was killed, and which tasks were the largest.
std::string oom_text(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style) {
  if (!result.memory.oom) return {};
  const OomKill& kill = *result.memory.oom;
  std::string what = "From the kernel's log.";
  if (kill.cgroup)
    what += fmt::format(" The cgroup used {}{}. The report shows only the memory of this cgroup.",
                        say_bytes(kill.cgroup->usage_bytes.value_or(0), style),
                        kill.cgroup->limit_bytes
                            ? fmt::format(", and its limit is {}", say_bytes(*kill.cgroup->limit_bytes, style))
                            : "");
  if (!kill.invoked_by.empty())
    what += fmt::format(" {} could not get memory{}.", ascii(kill.invoked_by),
                        kill.order ? fmt::format(" of order {}", *kill.order) : "");
  if (!kill.victim.empty()) what += fmt::format(" The kernel killed {} (pid {}).", ascii(kill.victim), kill.victim_pid);
  std::string out = hanging("  ", what, style);
  if (kill.tasks.empty()) return out;
  Table table{{{"Task", true}, {"Pid"}, {"Resident"}, {"Swapped"}, {"Page tables", false, 1}}, {}};
  const auto rows = largest(kill.tasks, options, [](const OomTask& one) { return one.rss_pages; });
  for (const OomTask* task : rows)
    table.rows.push_back(
        {{ascii(task->name), std::to_string(task->pid), say_bytes(task->rss_pages * result.memory.page_size, style),
          say_bytes(task->swap_pages * result.memory.page_size, style),
          bytes_or_unknown(task->page_table_bytes, style)}});
  return out + counted_heading("Tasks by resident memory", rows.size(), kill.tasks.size(), style) +
         to_text(table, style);
}

// Returns the names of the copied files, and the reports in the kernel's log, as text.
std::string files_text(const SnapshotResult& result, const TextStyle& style) {
  std::string out;
  if (!result.files.empty()) {
    constexpr std::size_t kMost = 20;
    out += "\n" + hanging("", "Read from: " + printable(first_of(result.files, kMost)), style);
  }
  const std::string about = fmt::format("{} has {} of low memory.", printable(result.log),
                                        say_number_of(result.log_reports, "report", style));
  if (result.log_reports > 1)
    out += hanging("",
                   about + (result.memory.oom ? " This is the last one." : "") +
                       " `kmemtrace leaks` shows what changed between them.",
                   style);
  else if (result.log_reports == 1 && !result.memory.oom)
    out += hanging("", about, style);
  return out;
}

// Returns one line for each allocation site. Long stacks are wrapped.
std::string sites_text(std::string_view what, const std::vector<AllocationSite>& sites, std::string_view noun,
                       const SnapshotOptions& options, const TextStyle& style) {
  if (sites.empty()) return {};
  const auto rows = largest(sites, options, [](const AllocationSite& one) { return std::pair(one.bytes, one.count); });
  std::string out = counted_heading(what, rows.size(), sites.size(), style);
  for (const AllocationSite* site : rows) {
    const std::string count = say_number_of(site->count, noun, style);
    const std::string_view about = site->approximate ? "~" : "";
    const std::string amount =
        site->bytes != 0 ? fmt::format("{}{}, {}", about, say_bytes(site->bytes, style), count) : count;
    std::string text = ascii(site->name);
    if (!site->of.empty()) text += " [" + ascii(site->of) + ']';
    for (const std::string& frame : site->callers()) text += " < " + ascii(frame);
    if (!site->others.empty()) text += " (" + ascii(site->others) + ')';
    out += hanging(fmt::format("  {:>24}  ", amount), text, style);
  }
  return out;
}

std::string missing_text(const KernelMemory& memory, const TextStyle& style) {
  std::string out;
  if (!memory.missing.empty()) out += "\n" + heading("Missing sources", style);
  for (const MissingSource& missing : memory.missing)
    out +=
        hanging(fmt::format("  {:<13}", printable(missing.name)),
                printable(missing.why) + (missing.how.empty() ? "" : "; to get it: " + printable(missing.how)), style);
  if (memory.unknown_lines > 0) {
    out += "\n" + heading(fmt::format("{} not understood", say_number_of(memory.unknown_lines, "line", style)), style);
    for (const UnknownLine& unknown : memory.unknown)
      out += hanging(fmt::format("  {:<13}", unknown.source), printable(unknown.line), style);
  }
  return out;
}

std::string changes_text(std::string_view what, std::string_view name, const std::vector<SnapshotChange>& changes,
                         bool in_bytes, const SnapshotOptions& options, const TextStyle& style) {
  if (changes.empty()) return {};
  const auto say = [&](std::int64_t value, bool plus) {
    const Unit unit = in_bytes ? Unit::bytes : Unit::count;
    return plus ? say_change(value, unit, style) : say_amount(value, unit, style);
  };
  Table table{{{std::string(name), true}, {"A", false, 1}, {"B", false, 1}, {"Change"}}, {}};
  const std::size_t shown = options.shown(changes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SnapshotChange& change = changes[i];
    const auto growth =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(change.b) - static_cast<std::uint64_t>(change.a));
    table.rows.push_back({{ascii(change.name), say(change.a, false), say(change.b, false), say(growth, true)}});
  }
  return counted_heading(what, shown, changes.size(), style) + to_text(table, style);
}

}  // namespace

std::string text_snapshot(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style) {
  const KernelMemory& memory = result.memory;
  std::string head = hanging("", title(memory), style);
  head.pop_back();  // heading() adds the newline again
  std::string out = heading(head, style) + sheet_text(result, style);
  out += text_health(result.health, style);
  out += oom_text(result, options, style);
  out += text_owners(result, options, style);
  if (result.pages) out += text_page_census(*result.pages, memory, result.total, options, style);
  out += caches_text(result, options, style);
  out += vmalloc_text(result, options, style);
  out += sites_text("Call sites by bytes (allocinfo)", memory.allocinfo, "allocation", options, style);
  out += cgroups_text(result, options, style);
  out += text_dying_cgroups(result.dying_cgroups, memory.pods, options, style);
  out += text_nodes(memory, style) + zones_text(result, style);
  out += sites_text("Slab objects by allocating call site (alloc_traces)", memory.slab_allocations, "object", options,
                    style);
  out +=
      sites_text("Free slab objects by freeing call site (free_traces)", memory.slab_frees, "object", options, style);
  out += sites_text("Pages by allocating stack (page_owner)", memory.page_owners, "page", options, style);
  out += sites_text("Unreferenced objects (kmemleak)", memory.kmemleak, "object", options, style);
  return out + missing_text(memory, style) + files_text(result, style) + concepts_line(style);
}

std::string text_snapshot_diff(const SnapshotDiff& diff, const SnapshotOptions& options, const TextStyle& style) {
  std::string out = heading("Changes of the kernel's memory", style);
  const auto side = [&](std::string_view label, const std::string& kernel, std::uint64_t unix_ns) {
    const std::string when = unix_ns == 0 ? "at an unknown time" : say_time(unix_ns);
    out += labelled(label, kernel.empty() ? when : fmt::format("Linux {}, {}", printable(kernel), when), style);
  };
  side("A", diff.a_kernel, diff.a_unix_ns);
  side("B", diff.b_kernel, diff.b_unix_ns);
  if (!diff.a_host.empty() && !diff.b_host.empty() && diff.a_host != diff.b_host)
    out += hanging("",
                   fmt::format("A is of the machine {} and B of {}: differences are not changes over time.",
                               printable(diff.a_host), printable(diff.b_host)),
                   style);
  out += '\n';
  Table table{{{"Where it is", true}, {"A", false, 1}, {"B", false, 1}, {"Change"}}, {}};
  const auto bytes_or_unknown = [&style](std::optional<std::int64_t> bytes) {
    return bytes ? signed_bytes(*bytes, style) : "unknown";
  };
  for (const auto& [line, a, b] : diff.sheet) {
    if (a == 0 && b == 0 && !style.raw) continue;
    std::string change = "unknown";
    if (a && b) {
      const auto growth = static_cast<std::int64_t>(static_cast<std::uint64_t>(*b) - static_cast<std::uint64_t>(*a));
      change = growth == 0 && !style.raw ? "=" : say_change(growth, Unit::bytes, style);
    }
    TableRow row{{line_label(line), bytes_or_unknown(a), bytes_or_unknown(b), std::move(change)}};
    row.aside = !line.counted;
    if (line.depth == 0) row.emphasis = Emphasis::heading;
    table.rows.push_back(std::move(row));
  }
  out += to_text(table, style);
  out += changes_text("Slab caches that changed", "Cache", diff.caches, true, options, style);
  out += changes_text("vmalloc by caller", "Function", diff.vmalloc, true, options, style);
  out += changes_text("Call sites (allocinfo)", "Site", diff.allocinfo, true, options, style);
  out += changes_text("Cgroups, kernel and user memory", "Cgroup", diff.cgroups, true, options, style);
  out += changes_text("Removed cgroups that still hold memory", "Below", diff.dying_cgroups, false, options, style);
  out += changes_text("Slab objects by allocating call site (alloc_traces)", "Site", diff.slab_allocations, false,
                      options, style);
  out += changes_text("Pages by allocating stack (page_owner)", "Site", diff.page_owners, true, options, style);
  out += changes_text("Owners of unaccounted memory", "Owner", diff.owners, true, options, style);
  out += changes_text("Page frames by kind and order", "Kind", diff.page_blocks, true, options, style);
  out += changes_text("Other kernel pages by flags", "Flags", diff.page_flags, true, options, style);
  out += changes_text("Memory by NUMA node", "Node", diff.nodes, true, options, style);
  for (const SnapshotPart part : diff.not_compared) {
    const bool is_compared_in_part = part == SnapshotPart::allocinfo && !diff.allocinfo.empty();
    out +=
        "\n" + hanging("",
                       is_compared_in_part
                           ? fmt::format("{}: only those in both snapshots are compared. One snapshot has only some.",
                                         describe(part).heading)
                           : fmt::format("Not compared: {}. One snapshot lacks it or has it only in part.",
                                         describe(part).heading),
                       style);
  }
  return out;
}

}  // namespace kmt
