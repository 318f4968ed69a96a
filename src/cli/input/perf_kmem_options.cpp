// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/perf_kmem_options.hpp"

#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/input/trace_options.hpp"

namespace kmt {

namespace {

constexpr std::string_view kPerfKmem = "perf-kmem";

// An option of perf kmem, and the option of kmemtrace that has the same effect.
struct Peer {
  const char* option;
  const char* otherwise;
  bool of_all_styles = false;
};
constexpr std::array kPeers = {Peer{"--caller", "--by call-site, or --by caller"},
                               Peer{"--alloc", "--by address"},
                               Peer{"--slab", "no option, because all allocators are reported", true},
                               Peer{"--page", "--by caller,order,migrate-type,gfp, or kmemtrace pages", true},
                               Peer{"--live", "--sort live-bytes"},
                               Peer{"--raw-ip", "--columns address,hits,allocated"},
                               Peer{"--line", "--limit"}};

// Applies each --line to the table that was named before it. As in perf, a --line before any table limits the table of
// addresses.
void take_lines(const Command& command, const PerfKmemFlags& options, std::size_t& callers, std::size_t& addresses) {
  std::size_t next = 0;
  bool of_addresses = true;
  for (const Option* const option : command.order) {
    if (option->has_name("--caller")) of_addresses = false;
    if (option->has_name("--alloc")) of_addresses = true;
    if (!option->has_name("--line") || next == options.lines.size()) continue;
    if (of_addresses && !options.alloc)
      throw Error("--line must follow its table").hint("Write: --caller --line N, or --alloc --line N");
    (of_addresses ? addresses : callers) = options.lines[next++];
  }
}

}  // namespace

void add_perf_kmem_options(Command& command, PerfKmemFlags& options) {
  command.option("--style", &options.style, "STYLE",
                 "Print tables in the format of another tool, for scripts that read them\nperf-kmem prints the tables "
                 "of perf kmem stat. perf-report prints a table like that of perf report: the share of each group of "
                 "--by (default: comm,dso,user-symbol) in the events, or in the column of --sort. Shares of bytes are "
                 "computed for each allocator. Allocations by interrupts are counted for the interrupted task.",
                 {.words = {"perf-kmem", "perf-report"}});
  command.flag("--caller", &options.caller, "With --style: show a table of call sites");
  command.flag("--alloc", &options.alloc, "With --style: show a table of addresses (with --page: of page frames)");
  command.flag("--slab", &options.slab, "With --style: show slab allocations (default)");
  command.flag("--page", &options.page, "With --style: show page allocations");
  command.flag("--live", &options.live, "With --style: show only pages that are live at the end");
  command.flag("--raw-ip", &options.raw_ip, "With --style: show addresses of call sites instead of names");
  command.option("-l,--line", &options.lines, "N",
                 "With --style: show N rows of the table that the option before -l selects (default: all)\n"
                 "For example, --caller -l 5 --alloc -l 9 shows 5 call sites and 9 addresses.",
                 {.range = kCounts, .repeats = true});
}

std::optional<PerfKmemOptions> perf_kmem_options(const Command& command, const PerfKmemFlags& options,
                                                 std::size_t limit) {
  if (options.style != kPerfKmem) {
    for (const Peer& peer : kPeers)
      if (command.has(peer.option) && !(peer.of_all_styles && !options.style.empty()))
        throw Error(fmt::format("{} needs --style {}", peer.option,
                                peer.of_all_styles ? "perf-kmem or perf-report" : "perf-kmem"))
            .hint(fmt::format("Add --style perf-kmem. The equivalent without --style: {}", peer.otherwise));
    return std::nullopt;
  }
  for (const char* const option : {"--by", "--columns", "--json"})
    if (command.has(option))
      throw Error(fmt::format("{} cannot be used with --style perf-kmem", option))
          .hint("The tables and columns of that style are fixed. Remove one of the two options");
  if (options.live && !options.page)
    throw Error("--live needs --page, as in perf kmem").hint("Add --page, or use: kmemtrace report --sort live-bytes");

  PerfKmemOptions view;
  std::size_t callers = command.has("--limit") ? limit : 0;
  std::size_t addresses = callers;
  take_lines(command, options, callers, addresses);
  if (options.caller) view.callers = callers;
  if (options.alloc) view.addresses = addresses;
  view.pages = options.page;
  view.slab = options.slab || !options.page;
  view.live = options.live;
  view.raw_ip = options.raw_ip;
  return view;
}

}  // namespace kmt
