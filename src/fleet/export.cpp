// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/export.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "fleet/answer.hpp"
#include "fleet/sql_text.hpp"
#include "results/allocation_sums.hpp"
#include "results/group.hpp"
#include "trace/code/code_owner.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/untraced_paths.hpp"
#include "views/common/event_fields.hpp"

namespace kmt {

namespace {

constexpr std::string_view kSumColumns =
    "day, host, kernel, trace, began, block, at, allocator, function, call_site, cache, page_order, comm, context, "
    "allocations, failed_allocations, bytes_requested, bytes_allocated, matched_frees, bytes_freed, live_allocations, "
    "live_bytes, cross_cpu_frees, lifetime_ns, live_moment_1, live_moment_2, freed_unseen, migrate_type, untraced, "
    "subsystem, directory, slab_pages";
constexpr std::string_view kEventColumns =
    "day, host, kernel, trace, began, block, id, time_ns, cpu, tid, task, context, event, outcome, allocator, address, "
    "bytes_requested, bytes_allocated, call_site, symbol, function, cache, page_order, migrate_type, gfp_flags, node, "
    "allocation, lifetime_ns, stack";
constexpr std::string_view kTraceColumns =
    "day, host, kernel, trace, began, level, path, format, arch, cpus, page_size, clock, first_ns, end_ns, "
    "recorded_ns, "
    "events, lost_events, sum_rows, event_rows, loaded, may_lack_frees, lacks_frees_of";

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kDay = 86'400;

std::uint16_t day_of(std::uint32_t at) { return static_cast<std::uint16_t>(at / kDay); }

// Numbers strings in the order of their first use.
class Texts {
 public:
  std::uint32_t id(std::string_view text) {
    const auto found = ids_.find(std::string(text));
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    return ids_[std::string(text)] = id;
  }
  const std::string& operator[](std::uint32_t id) const { return texts_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_;
};

struct GroupName {
  Allocator allocator;
  std::uint32_t call_site;
  std::uint32_t cache;
  std::int8_t page_order;
  std::uint32_t migrate_type;
  std::uint32_t comm;
  std::uint32_t context;
  bool slab_pages;

  bool operator==(const GroupName&) const = default;
};
struct HashOfName {
  std::size_t operator()(const GroupName& name) const {
    std::uint64_t hash = static_cast<std::uint64_t>(name.allocator) + (std::uint64_t{name.context} << 32);
    for (const std::uint64_t part : {std::uint64_t{name.call_site}, std::uint64_t{name.cache}, std::uint64_t{name.comm},
                                     static_cast<std::uint64_t>(name.page_order), std::uint64_t{name.migrate_type},
                                     std::uint64_t{name.slab_pages}})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
  }
};

// Changes of a group's totals in one second, caused by allocations that started or ended in this second. A negative
// change is stored modulo 2^64.
struct Sums : AllocationSums {
  std::uint64_t lifetime_ns = 0;
  // Sum of change * t over all changes of live bytes, where t is the time in seconds since the first event of the
  // trace.
  double live_moment_1 = 0;
  double live_moment_2 = 0;       // sum of change * t * t over the same changes
  std::int64_t freed_unseen = 0;  // number of allocations whose free is missing: their address was allocated again

  void grow(std::int64_t bytes, double seconds) {
    live_bytes += static_cast<std::uint64_t>(bytes);
    live_moment_1 += static_cast<double>(bytes) * seconds;
    live_moment_2 += static_cast<double>(bytes) * seconds * seconds;
  }
};

struct Live {
  std::uint32_t group = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes = 0;     // number of bytes that are not freed yet
  bool first_is_gone = false;  // true after its first page was freed, which counts as the end of the allocation
};

}  // namespace

struct FleetExport::State {
  State(const ServerAddress& address, const TraceInfo& trace_info, const SymbolNames& symbols,
        CallerFinder& caller_finder, const FleetTrace& of)
      : server(address),
        info(trace_info),
        names(trace_info, symbols),
        known_symbols(symbols),
        directories(symbols.module_directories()),
        callers(caller_finder),
        trace(of),
        sums_loader(address, "sums", kSumColumns, of.id, of.host) {
    if (of.with_events) events_loader.emplace(address, "events", kEventColumns, of.id, of.host);
  }

  std::uint32_t wall_second(std::uint64_t time_ns) const {
    const std::uint64_t passed = time_ns > first_ns ? time_ns - first_ns : 0;
    return trace.began + (info.clock.in_ns ? static_cast<std::uint32_t>(passed / kSecond) : 0);
  }
  RowBinary& begin_row(BlockLoader& loader, std::uint16_t day);
  std::string_view site_of(const Event& event, const EventFields& fields);
  std::uint64_t caller_of(const Event& event);
  CodeOwner directory_of(const Event& event, std::string_view site);
  std::uint32_t group_of(const StreamedEvent& streamed, const EventFields& fields);
  Sums& sums_of(std::uint32_t group);
  void send_sums();
  void end_allocation(const StreamedEvent& streamed, const EndedPart& part);
  void begin_allocation(const StreamedEvent& streamed, const EventFields& fields);
  void add_event(const StreamedEvent& streamed, const EventFields& fields);
  void send_trace(const StreamEnd& end);

  ClickHouse server;
  const TraceInfo& info;
  const std::optional<KernelVersion> version = version_of(info.machine.kernel);
  EventNames names;
  const SymbolNames& known_symbols;
  SourceDirectories directories;
  CallerFinder& callers;
  const FleetTrace& trace;
  BlockLoader sums_loader;
  std::optional<BlockLoader> events_loader;
  LoadCounts sum_counts;
  LoadCounts event_counts;
  std::uint64_t events = 0;
  std::uint64_t first_ns = 0;
  std::uint32_t second = 0;  // the second whose changes are in `sums`
  double seconds = 0;        // seconds from the first event to the current event
  Texts texts;
  std::unordered_map<GroupName, std::uint32_t, HashOfName> groups;
  std::vector<GroupName> group_names;
  // index: group; true: objects of the group may be freed on a path without a tracepoint
  std::vector<bool> is_untraced;
  std::vector<CodeOwner> owners;  // index: group; source directory
  // index: group; value: index in `sums` plus 1, or 0 if the group has no events in this second
  std::vector<std::uint32_t> place;
  std::vector<std::uint32_t> in_second;  // groups that have events in this second, in the order of their first event
  std::vector<Sums> sums;
  std::unordered_map<std::uint32_t, Live> live;
};

FleetExport::FleetExport(const ServerAddress& server, const TraceInfo& info, const SymbolNames& symbols,
                         CallerFinder& callers, const FleetTrace& trace)
    : state_(std::make_unique<State>(server, info, symbols, callers, trace)) {}
FleetExport::~FleetExport() = default;

const LoadCounts& FleetExport::sums() const { return state_->sum_counts; }
const LoadCounts& FleetExport::events() const { return state_->event_counts; }

RowBinary& FleetExport::State::begin_row(BlockLoader& loader, std::uint16_t day) {
  RowBinary& row = loader.row(day);
  return row.number(day)
      .text(trace.host)
      .text(printable(info.machine.kernel))
      .text(trace.id)
      .number(trace.began)
      .number(loader.block());
}

// Returns the call site of an event. Events of pages and of vmalloc areas have no call site, and neither have some
// events of slab objects. For an event without a call site, returns the caller in the stack, if there is a stack.
std::string_view FleetExport::State::site_of(const Event& event, const EventFields& fields) {
  if (!fields.symbol.empty()) return fields.symbol;
  const std::uint64_t caller = caller_of(event);
  return caller == 0 ? std::string_view() : names.symbol(caller);
}

// Returns the address of the caller in the stack; 0 if there is none.
std::uint64_t FleetExport::State::caller_of(const Event& event) {
  const std::span<const std::uint64_t> stack = info.tables.stacks[event.stack];
  const std::size_t caller = callers.caller(stack);
  return caller < stack.size() ? stack[caller] : 0;
}

// Returns the source directory of the call site, or of the caller if the event has no call site.
CodeOwner FleetExport::State::directory_of(const Event& event, std::string_view site) {
  const std::uint64_t call_site = info.tables.call_sites[event.call_site.value];
  return directories.of(site, known_symbols.frames(call_site != 0 ? call_site : caller_of(event)));
}

std::uint32_t FleetExport::State::group_of(const StreamedEvent& streamed, const EventFields& fields) {
  const bool in_task = streamed.context == "task";
  const GroupName name = {allocator_of(streamed.event->kind),
                          texts.id(site_of(*streamed.event, fields)),
                          texts.id(fields.cache),
                          static_cast<std::int8_t>(fields.order ? static_cast<int>(*fields.order) : -1),
                          texts.id(fields.migrate_type),
                          in_task ? texts.id(fields.task) : texts.id(fmt::format("[{}]", streamed.context)),
                          texts.id(streamed.context),
                          streamed.slab_pages};
  const auto [known, is_new] = groups.try_emplace(name, static_cast<std::uint32_t>(group_names.size()));
  if (is_new) {
    group_names.push_back(name);
    is_untraced.push_back(streamed.event->kind == EventKind::cache_alloc &&
                          untraced_free_of(std::string(fields.cache), texts[name.call_site], version) != nullptr);
    owners.push_back(directory_of(*streamed.event, texts[name.call_site]));
    place.push_back(0);
  }
  return known->second;
}

Sums& FleetExport::State::sums_of(std::uint32_t group) {
  if (place[group] == 0) {
    in_second.push_back(group);
    sums.emplace_back();
    place[group] = static_cast<std::uint32_t>(sums.size());
  }
  return sums[place[group] - 1];
}

void FleetExport::State::send_sums() {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const GroupName& name = group_names[in_second[i]];
    const Sums& of = sums[i];
    place[in_second[i]] = 0;
    const std::string& symbol = texts[name.call_site];
    RowBinary& row = begin_row(sums_loader, day_of(second)).number(second);
    row.text(name_of(name.allocator)).text(function_of(symbol)).text(symbol).text(texts[name.cache]);
    row.number(name.page_order).text(texts[name.comm]).text(texts[name.context]);
    for (const auto field : AllocationSums::kFields) row.number(of.*field);
    row.number(of.lifetime_ns).number(of.live_moment_1).number(of.live_moment_2).number(of.freed_unseen);
    row.text(texts[name.migrate_type]).number(std::uint8_t{is_untraced[in_second[i]]});
    const CodeOwner& directory = owners[in_second[i]];
    row.text(plain_text(subsystem_of(directory))).text(printable(plain_text(directory)));
    row.number(std::uint8_t{name.slab_pages});
  }
  in_second.clear();
  sums.clear();
}

void FleetExport::State::begin_allocation(const StreamedEvent& streamed, const EventFields& fields) {
  const std::uint32_t group = group_of(streamed, fields);
  Sums& of = sums_of(group);
  if (streamed.outcome == Outcome::failed) {
    ++of.failed_allocations;
    return;
  }
  const std::uint64_t requested = fields.bytes_requested.value_or(0);
  const std::uint64_t bytes = fields.bytes_allocated.value_or(0);
  ++of.allocations;
  ++of.live_allocations;
  of.bytes_requested += requested;
  of.bytes_allocated += bytes;
  of.grow(static_cast<std::int64_t>(bytes), seconds);
  live[streamed.allocation] = {group, requested, bytes};
}

void FleetExport::State::end_allocation(const StreamedEvent& streamed, const EndedPart& part) {
  const auto found = live.find(part.allocation);
  if (found == live.end()) return;
  Live& of = found->second;
  Sums& sum = sums_of(of.group);
  const std::uint64_t bytes = std::min(of.bytes, part.bytes.value_or(of.bytes));
  const bool freed = streamed.outcome == Outcome::freed;
  sum.grow(-static_cast<std::int64_t>(bytes), seconds);
  of.bytes -= bytes;
  if (freed) sum.bytes_freed += bytes;
  if (!part.whole) {
    if (of.first_is_gone && of.bytes == 0) live.erase(found);
    return;
  }
  --sum.live_allocations;
  if (freed) {
    ++sum.matched_frees;
    if (part.began_cpu != streamed.event->cpu) ++sum.cross_cpu_frees;
    if (streamed.event->time_ns > part.began_ns) sum.lifetime_ns += streamed.event->time_ns - part.began_ns;
  }
  if (streamed.outcome == Outcome::began) ++sum.freed_unseen;
  if (streamed.outcome == Outcome::duplicate_event) {  // undo the allocation that the first event has added
    --sum.allocations;
    sum.bytes_requested -= of.bytes_requested;
    sum.bytes_allocated -= bytes;
  }
  of.first_is_gone = true;
  if (of.bytes == 0) live.erase(found);
}

void FleetExport::State::add_event(const StreamedEvent& streamed, const EventFields& fields) {
  const Event& event = *streamed.event;
  RowBinary& row = begin_row(*events_loader, day_of(second)).number(events).number(event.time_ns);
  row.number(std::uint32_t{event.cpu}).number(event.tid).text(fields.task).text(streamed.context).text(fields.name);
  row.text(outcome_text(streamed.outcome)).text(fields.allocator).maybe<std::uint64_t>(fields.address);
  row.maybe<std::uint64_t>(fields.bytes_requested).maybe<std::uint64_t>(fields.bytes_allocated);
  row.maybe<std::uint64_t>(fields.call_site).text(fields.symbol).text(function_of(fields.symbol)).text(fields.cache);
  row.maybe<std::uint8_t>(fields.order).text(fields.migrate_type).text(fields.gfp_flags);
  row.maybe<std::int32_t>(fields.node).number(fields.allocation).maybe<std::uint64_t>(fields.lifetime_ns);
  row.length(info.tables.stacks[event.stack].size() + info.tables.stacks.user(event.stack).size());
  names.stack(event.stack, [&](const std::string& symbol) { row.text(symbol); });
}

void FleetExport::add(const StreamedEvent& streamed) {
  State& state = *state_;
  const std::uint64_t time_ns = streamed.event->time_ns;
  if (state.events++ == 0) {
    state.first_ns = time_ns;
    state.second = state.wall_second(time_ns);
  }
  // In a damaged trace, time may go backwards. An event with an earlier time is counted in the current second.
  const std::uint32_t second = state.wall_second(time_ns);
  if (second > state.second) {
    state.send_sums();
    state.second = second;
  }
  state.seconds = time_ns > state.first_ns ? static_cast<double>(time_ns - state.first_ns) / 1e9 : 0;
  const EventFields fields = state.names.fields_of(streamed);
  if (state.events_loader) state.add_event(streamed, fields);
  for (const EndedPart& part : streamed.ended) state.end_allocation(streamed, part);
  if (streamed.allocation != 0) state.begin_allocation(streamed, fields);
}

void FleetExport::State::send_trace(const StreamEnd& end) {
  RowBinary row;
  row.number(day_of(trace.began))
      .text(trace.host)
      .text(printable(info.machine.kernel))
      .text(trace.id)
      .number(trace.began);
  row.text(trace.with_events ? "events" : "aggregates").text(printable(info.path)).text(printable(info.format));
  row.text(printable(info.machine.arch))
      .number(std::uint32_t{info.machine.cpus})
      .number(static_cast<std::uint32_t>(info.machine.page_size));
  row.text(printable(info.clock.name)).number(end.first_ns).number(end.end_ns);
  row.number(end.end_ns > end.begin_ns ? end.end_ns - end.begin_ns : std::uint64_t{0});
  row.number(end.events).number(total_lost_events(info.losses)).number(sum_counts.rows).number(event_counts.rows);
  row.number(static_cast<std::uint32_t>(std::time(nullptr))).number(std::uint8_t{end.may_lack_frees});
  row.length(static_cast<std::uint64_t>(std::ranges::count(end.lacks_frees, true)));
  for (std::size_t i = 0; i < kAllocators; ++i)
    if (end.lacks_frees[i]) row.text(name_of(static_cast<Allocator>(i)));
  server.insert("traces", kTraceColumns, row.bytes(), fmt::format("kmemtrace-{}-traces", trace.id),
                [&] { return is_loaded(server.address(), trace); });
}

void FleetExport::end(const StreamEnd& end) {
  State& state = *state_;
  if (!end.complete) return;
  if (end.events == 0)
    throw Error("Nothing was loaded, because the trace has no events, or the options select none of them")
        .hint("`kmemtrace report` shows what the file contains");
  state.send_sums();
  state.sum_counts = state.sums_loader.finish();
  if (state.events_loader) state.event_counts = state.events_loader->finish();
  state.send_trace(end);
}

// True if the server has all rows of the trace. Compares the number of rows, because rows of a day may have been
// deleted on the server since the trace was loaded.
bool is_loaded(const ServerAddress& address, const FleetTrace& trace) {
  ClickHouse server(address);
  const std::string of_trace = "WHERE trace = " + sql_string(trace.id);
  const std::string database = sql_name(server.database());
  const auto holds = [&](const char* table, std::uint64_t rows) {
    return AnswerCells(server.query(fmt::format("SELECT count() FROM {}.{} {}", database, table, of_trace)).at(0))
               .count() == rows;
  };
  for (const auto& row :
       server.query(fmt::format("SELECT DISTINCT level, sum_rows, event_rows FROM {}.traces {}", database, of_trace))) {
    AnswerCells cells(row);
    const bool has_events = cells.text() == "events";
    const std::uint64_t sums = cells.count();
    const std::uint64_t events = cells.count();
    if (trace.with_events && !has_events) continue;
    if (holds("sums", sums) && (!trace.with_events || holds("events", events))) return true;
  }
  return false;
}

std::uint64_t traces_of_its_time(const ServerAddress& address, const FleetTrace& trace) {
  ClickHouse server(address);
  const std::string traces = sql_name(server.database()) + ".traces";
  constexpr std::string_view kEnd = "toUInt32(began) + intDiv(end_ns - first_ns, 1000000000)";
  const auto rows = server.query(fmt::format(
      "SELECT uniqExact(trace) FROM {0} WHERE host = {1} AND trace != {2} AND (toUInt32(began) = {3} OR ({4} > {3} AND "
      "toUInt32(began) < (SELECT max({4}) FROM {0} WHERE trace = {2})))",
      traces, sql_string(trace.host), sql_string(trace.id), trace.began, kEnd));
  return AnswerCells(rows.at(0)).count();
}

}  // namespace kmt
