// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/sqlite.hpp"

#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "results/group.hpp"
#include "trace/code/function_name.hpp"
#include "trace/note_lines.hpp"
#include "views/common/event_fields.hpp"
#include "views/export/sqlite_file.hpp"
#include "views/export/sqlite_schema.hpp"

namespace kmt {

namespace {

// SQL for the sums over rows of allocation_details. `freed_bytes` is a sum, because the pages of one allocation may be
// freed in parts.
constexpr std::string_view kMeasures =
    "sum(state <> 'failed') AS allocations, sum(state = 'failed') AS failed_allocations, "
    "coalesce(sum(bytes_requested) FILTER (WHERE state <> 'failed'), 0) AS bytes_requested, "
    "coalesce(sum(bytes_allocated) FILTER (WHERE state <> 'failed'), 0) AS bytes_allocated, "
    "sum(freed_bytes) AS bytes_freed, sum(state = 'freed') AS matched_frees, sum(live) AS live_allocations, "
    "sum(live_bytes) AS live_bytes, coalesce(sum(cross_cpu), 0) AS cross_cpu_frees, "
    "sum(cross_node) AS cross_node_frees, min(began_ns) AS first_ns, max(began_ns) AS last_ns, "
    "CAST(total(lifetime_ns) / count(lifetime_ns) AS INTEGER) AS mean_lifetime_ns";

std::string schema() {
  constexpr std::string_view kPlace = "{measures}";
  std::string sql = kSqliteSchema;
  for (std::size_t at = sql.find(kPlace); at != std::string::npos; at = sql.find(kPlace, at + kMeasures.size()))
    sql.replace(at, kPlace.size(), kMeasures);
  return sql;
}

class SqliteExport : public EventSink {
 public:
  SqliteExport(const TraceInfo& info, const SymbolNames& symbols, const std::string& path);

  void add(const StreamedEvent& streamed) override;
  void end(const StreamEnd& end) override;

 private:
  struct Schema {
    explicit Schema(SqliteFile& file) {
      file.run("BEGIN");
      file.run(schema());
    }
  };

  std::uint32_t task_id(std::int32_t tid, std::string_view name);
  std::uint32_t cache_id(std::string_view name);
  void know_call_site(CallSiteId id);
  void know_stack(StackId id);
  void begin_allocation(const StreamedEvent& streamed, const EventFields& fields);
  void end_allocation(const StreamedEvent& streamed, const EndedPart& part);
  void grow(Allocator allocator, std::uint64_t bytes, std::uint64_t time_ns);
  void shrink(Allocator allocator, const EndedPart& part);
  void fact(std::string_view name, std::string_view text) { fact_.text(name).text(printable(text)).run(); }
  void fact(std::string_view name, std::uint64_t number) { fact_.text(name).number(number).run(); }

  const TraceInfo& info_;
  EventNames names_;
  SqliteFile file_;
  Schema schema_;  // creates the tables; must be initialised before the statements, which use the tables
  SqliteStatement event_;
  SqliteStatement allocation_;
  SqliteStatement end_;
  SqliteStatement take_;
  SqliteStatement task_;
  SqliteStatement cache_;
  SqliteStatement call_site_;
  SqliteStatement gfp_;
  SqliteStatement stack_;
  SqliteStatement frame_;
  SqliteStatement fact_;
  std::uint64_t events_ = 0;
  std::map<std::pair<std::int32_t, std::string>, std::uint32_t> tasks_;
  std::unordered_map<std::int32_t, std::pair<std::string, std::uint32_t>> recent_tasks_;
  std::unordered_map<std::string, std::uint32_t> caches_;
  std::vector<bool> known_call_sites_;
  std::vector<bool> known_stacks_;
  std::unordered_map<std::uint32_t, bool> known_gfp_flags_;
  struct Live {
    std::uint64_t bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_ns = 0;
  };
  std::map<Allocator, Live> live_;
  // Live allocations that cannot be freed in parts. Key: allocation number; value: bytes.
  std::unordered_map<std::uint32_t, std::uint64_t> given_;
};

SqliteExport::SqliteExport(const TraceInfo& info, const SymbolNames& symbols, const std::string& path)
    : info_(info),
      names_(info, symbols),
      file_(path),
      schema_(file_),
      event_(file_, "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      allocation_(file_,
                  "INSERT INTO allocations (id, event, allocator, began_ns, bytes_requested, bytes_allocated, state, "
                  "live, live_bytes) VALUES (?,?,?,?,?,?,?,?,?)"),
      end_(file_,
           "UPDATE allocations SET state = ?1, live = 0, live_bytes = live_bytes - coalesce(?2, bytes_allocated), "
           "freed_bytes = freed_bytes + CASE ?1 WHEN 'freed' THEN coalesce(?2, bytes_allocated) ELSE 0 END, "
           "ended_by = ?3, ended_ns = ?4, lifetime_ns = ?5, lifetime_from_ns = ?6, cross_cpu = ?7, cross_node = ?8 "
           "WHERE id = ?9"),
      take_(file_,
            "UPDATE allocations SET live_bytes = live_bytes - ?1, freed_bytes = freed_bytes + CASE ?2 WHEN 1 THEN ?1 "
            "ELSE 0 END WHERE id = ?3"),
      task_(file_, "INSERT INTO tasks VALUES (?,?,?)"),
      cache_(file_, "INSERT INTO caches VALUES (?,?)"),
      call_site_(file_, "INSERT INTO call_sites VALUES (?,?,?,?)"),
      gfp_(file_, "INSERT INTO gfp_flags VALUES (?,?)"),
      stack_(file_, "INSERT INTO stacks VALUES (?,?)"),
      frame_(file_, "INSERT INTO frames VALUES (?,?,?,?)"),
      fact_(file_, "INSERT INTO trace VALUES (?,?)") {}

std::uint32_t SqliteExport::task_id(std::int32_t tid, std::string_view name) {
  const auto recent = recent_tasks_.find(tid);
  if (recent != recent_tasks_.end() && recent->second.first == name) return recent->second.second;
  const auto [known, is_new] =
      tasks_.try_emplace({tid, std::string(name)}, static_cast<std::uint32_t>(tasks_.size() + 1));
  if (is_new) task_.number(known->second).number(tid).required_text(names_.printable_text(name)).run();
  recent_tasks_[tid] = {std::string(name), known->second};
  return known->second;
}

// Returns the ID of a cache, or 0 if the cache is unknown.
std::uint32_t SqliteExport::cache_id(std::string_view name) {
  if (name.empty()) return 0;
  const auto [known, is_new] = caches_.try_emplace(std::string(name), static_cast<std::uint32_t>(caches_.size() + 1));
  if (is_new) cache_.number(known->second).text(name).run();
  return known->second;
}

void SqliteExport::know_call_site(CallSiteId id) {
  if (id.value == 0) return;
  if (known_call_sites_.size() <= id.value) known_call_sites_.resize(info_.tables.call_sites.size());
  if (known_call_sites_[id.value]) return;
  known_call_sites_[id.value] = true;
  const std::uint64_t address = info_.tables.call_sites[id.value];
  const std::string& symbol = names_.symbol(address);
  call_site_.number(id.value)
      .number(names_.real_address(address))
      .required_text(symbol)
      .required_text(function_of(symbol))
      .run();
}

void SqliteExport::know_stack(StackId id) {
  if (id.value == 0) return;
  if (known_stacks_.size() <= id.value) known_stacks_.resize(info_.tables.stacks.size());
  if (known_stacks_[id.value]) return;
  known_stacks_[id.value] = true;
  const std::span<const std::uint64_t> frames = info_.tables.stacks[id];
  const std::span<const std::uint64_t> user = info_.tables.stacks.user(id);
  stack_.number(id.value).number(std::uint64_t{frames.size() + user.size()}).run();
  for (std::size_t depth = 0; depth < frames.size(); ++depth)
    frame_.number(id.value)
        .number(std::uint64_t{depth})
        .number(names_.real_address(frames[depth]))
        .text(names_.symbol(frames[depth]))
        .run();
  for (std::size_t i = 0; i < user.size(); ++i)
    frame_.number(id.value)
        .number(std::uint64_t{frames.size() + i})
        .number(info_.code.user.frames[user[i]].offset)
        .text(names_.user_symbol(user[i]))
        .run();
}

void SqliteExport::add(const StreamedEvent& streamed) {
  const Event& event = *streamed.event;
  const EventFields fields = names_.fields_of(streamed);
  const bool has_flags = !fields.gfp_flags.empty();
  if (has_flags && known_gfp_flags_.try_emplace(event.gfp_flags, true).second)
    gfp_.number(event.gfp_flags).text(fields.gfp_flags).run();
  know_call_site(event.call_site);
  know_stack(event.stack);
  const std::uint32_t task = task_id(event.tid, streamed.task);
  const std::uint32_t cache = cache_id(fields.cache);

  event_.number(++events_).number(event.time_ns).number(std::uint32_t{event.cpu}).number(task).text(streamed.context);
  event_.number(std::uint32_t{event.type.value} + 1).text(outcome_text(streamed.outcome)).maybe(fields.address);
  event_.maybe(fields.bytes_requested).maybe(fields.bytes_allocated).id(event.call_site.value).id(cache);
  event_.maybe(fields.order).text(fields.migrate_type);
  has_flags ? event_.number(event.gfp_flags) : event_.null();
  event_.maybe(fields.node).id(event.stack.value).id(fields.allocation).run();

  for (const EndedPart& part : streamed.ended) end_allocation(streamed, part);
  if (streamed.allocation != 0) begin_allocation(streamed, fields);
}

void SqliteExport::begin_allocation(const StreamedEvent& streamed, const EventFields& fields) {
  const bool failed = streamed.outcome == Outcome::failed;
  const std::uint64_t bytes = fields.bytes_allocated.value_or(0);
  allocation_.number(streamed.allocation).number(events_).text(fields.allocator).number(streamed.event->time_ns);
  allocation_.number(fields.bytes_requested.value_or(0)).number(bytes).text(failed ? "failed" : "live");
  allocation_.number(failed ? 0 : 1).number(failed ? 0 : bytes).run();
  if (failed) return;
  const Allocator allocator = allocator_of(streamed.event->kind);
  grow(allocator, bytes, streamed.event->time_ns);
  if (allocator != Allocator::pages) given_[streamed.allocation] = bytes;
}

void SqliteExport::grow(Allocator allocator, std::uint64_t bytes, std::uint64_t time_ns) {
  Live& live = live_[allocator];
  live.bytes += bytes;
  if (live.bytes <= live.peak_bytes) return;
  live.peak_bytes = live.bytes;
  live.peak_ns = time_ns;
}

void SqliteExport::shrink(Allocator allocator, const EndedPart& part) {
  live_[allocator].bytes -= part.bytes ? *part.bytes : given_[part.allocation];
  if (part.whole) given_.erase(part.allocation);
}

void SqliteExport::end_allocation(const StreamedEvent& streamed, const EndedPart& part) {
  const Event& event = *streamed.event;
  const bool freed = streamed.outcome == Outcome::freed;
  shrink(allocator_of(event.kind), part);
  if (!part.whole) {
    take_.number(part.bytes.value_or(0)).number(freed ? 1 : 0).number(part.allocation).run();
    return;
  }
  const std::string_view state = freed                                          ? "freed"
                                 : streamed.outcome == Outcome::duplicate_event ? "told-twice"
                                                                                : "replaced";
  end_.text(state).maybe(part.bytes).number(events_).number(event.time_ns);
  if (freed) {
    const std::uint64_t lived = event.time_ns > part.began_ns ? event.time_ns - part.began_ns : 0;
    end_.number(lived).number(lived < 2 ? 0 : std::bit_floor(lived)).number(part.began_cpu != event.cpu ? 1 : 0);
    const std::vector<std::int16_t>& nodes = info_.machine.cpu_nodes;
    if (nodes.empty())
      end_.null();
    else
      end_.number(part.began_cpu < nodes.size() && event.cpu < nodes.size() && nodes[part.began_cpu] != nodes[event.cpu]
                      ? 1
                      : 0);
  } else {
    end_.null().null().null().null();
  }
  end_.number(part.allocation).run();
}

void SqliteExport::end(const StreamEnd& end) {
  SqliteStatement type(file_, "INSERT INTO event_types VALUES (?,?,?,?)");
  for (std::size_t i = 0; i < info_.tables.event_types.size(); ++i) {
    const EventType& of = info_.tables.event_types[i];
    const bool allocates = is_allocation(of.kind) || of.kind == EventKind::page_alloc;
    const bool frees = is_free(of.kind) || of.kind == EventKind::page_free;
    const std::string system = printable(of.system);
    const std::string name = printable(of.name);
    type.number(std::uint64_t{i} + 1).required_text(system).required_text(name);
    type.text(allocates || frees ? name_of(allocator_of(of.kind)) : std::string_view()).run();
  }
  SqliteStatement cpu(file_, "INSERT INTO cpus VALUES (?,?)");
  for (std::size_t i = 0; i < info_.machine.cpu_nodes.size(); ++i)
    cpu.number(std::uint64_t{i}).number(std::int64_t{info_.machine.cpu_nodes[i]}).run();

  SqliteStatement recorder(file_, "INSERT INTO recorder_tasks VALUES (?)");
  for (const std::int32_t tid : ids_in_note(info_.recording.notes, "recorder_tasks")) recorder.number(tid).run();
  SqliteStatement peak(file_, "INSERT INTO peaks VALUES (?,?,?)");
  for (const auto& [allocator, live] : live_)
    peak.text(name_of(allocator)).number(live.peak_bytes).number(live.peak_ns).run();
  SqliteStatement sample(file_, "INSERT INTO samples VALUES (?,?,?,?)");
  for (const MemorySeries& series : end.memory) {
    const std::string name = printable(series.name);
    for (const MemorySeriesPoint& point : series.points)
      sample.text(id_of(series.source)).required_text(name).number(point.time_ns).real(point.value).run();
  }

  fact("schema", std::string_view("kmemtrace.sqlite/1"));
  fact("path", info_.path);
  fact("format", info_.format);
  fact("kernel", info_.machine.kernel);
  fact("arch", info_.machine.arch);
  fact("byte_order", std::string_view(info_.machine.byte_order == ByteOrder::big ? "big" : "little"));
  fact("word_bits", std::uint64_t{info_.machine.word_bits});
  fact("page_size", info_.machine.page_size);
  fact("cpus", std::uint64_t{info_.machine.cpus});
  fact("clock", info_.clock.name);
  fact("clock_in_ns", std::uint64_t{info_.clock.in_ns});
  fact("lost_events", total_lost_events(info_.losses));
  fact("first_ns", end.first_ns);
  fact("end_ns", end.end_ns);
  fact("events", end.events);
  fact("complete", std::uint64_t{end.complete});
  file_.run("COMMIT");
}

}  // namespace

std::unique_ptr<EventSink> sqlite_export(const TraceInfo& info, const SymbolNames& symbols, const std::string& path) {
  return std::make_unique<SqliteExport>(info, symbols, path);
}

}  // namespace kmt
