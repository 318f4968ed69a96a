// SPDX-License-Identifier: GPL-2.0-or-later
// The C interface: events as columns.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "library/c_interface.hpp"
#include "library/opened_trace.hpp"

namespace kmemtrace {

namespace {

constexpr std::array kKindNames = {"other",
                                   "kmalloc",
                                   "kfree",
                                   "cache_alloc",
                                   "cache_free",
                                   "page_alloc",
                                   "page_free",
                                   "page_free_batched",
                                   "page_alloc_zone_locked",
                                   "page_pcpu_drain",
                                   "page_alloc_extfrag",
                                   "percpu_alloc",
                                   "percpu_free",
                                   "vmap_alloc",
                                   "vmap_free",
                                   "call_entry",
                                   "call_exit",
                                   "syscall_enter",
                                   "syscall_exit",
                                   "bulk_free",
                                   "rcu_free",
                                   "stall_begin",
                                   "stall_end",
                                   "stall_mark"};
static_assert(kKindNames.size() == static_cast<std::size_t>(kmt::EventKind::stall_mark) + 1);

// The arrays of kmt_columns.
struct ColumnArrays {
  std::vector<std::uint64_t> time_ns, address, bytes_requested, bytes_allocated, call_site;
  std::vector<std::uint32_t> gfp_flags, cpu, name, cache, stack;
  std::vector<std::int32_t> tid;
  std::vector<std::int16_t> node;
  std::vector<std::int8_t> migrate_type;
  std::vector<std::uint8_t> order, kind, context;

  void resize(std::size_t events);
  void set(std::size_t index, const kmt::Event& event, const kmt::TraceTables& tables);
  kmt_columns columns() const;
};

void ColumnArrays::resize(std::size_t events) {
  for (auto* const column : {&time_ns, &address, &bytes_requested, &bytes_allocated, &call_site})
    column->resize(events);
  for (auto* const column : {&gfp_flags, &cpu, &name, &cache, &stack}) column->resize(events);
  for (auto* const column : {&order, &kind, &context}) column->resize(events);
  tid.resize(events);
  node.resize(events);
  migrate_type.resize(events);
}

void ColumnArrays::set(std::size_t index, const kmt::Event& event, const kmt::TraceTables& tables) {
  time_ns[index] = event.time_ns;
  address[index] = event.address;
  bytes_requested[index] = event.bytes_requested;
  bytes_allocated[index] = event.bytes_allocated;
  call_site[index] = tables.call_sites[event.call_site.value];
  gfp_flags[index] = event.gfp_flags;
  tid[index] = event.tid;
  cpu[index] = event.cpu;
  name[index] = event.type.value;
  cache[index] = event.cache.value;
  stack[index] = event.stack.value;
  node[index] = event.node;
  migrate_type[index] = event.migrate_type;
  order[index] = event.order;
  kind[index] = static_cast<std::uint8_t>(event.kind);
  context[index] = kmt::interrupt_level(event);
}

kmt_columns ColumnArrays::columns() const {
  return {.size = sizeof(kmt_columns),
          .events = time_ns.size(),
          .time_ns = time_ns.data(),
          .address = address.data(),
          .bytes_requested = bytes_requested.data(),
          .bytes_allocated = bytes_allocated.data(),
          .call_site = call_site.data(),
          .gfp_flags = gfp_flags.data(),
          .tid = tid.data(),
          .cpu = cpu.data(),
          .name = name.data(),
          .cache = cache.data(),
          .stack = stack.data(),
          .node = node.data(),
          .migrate_type = migrate_type.data(),
          .order = order.data(),
          .kind = kind.data(),
          .context = context.data()};
}

// A new member must not lie in padding, because callers with an older header already count padding in `size`.
static_assert(sizeof(kmt_machine) == offsetof(kmt_machine, clock_in_ns) + sizeof(kmt_machine::clock_in_ns));
static_assert(sizeof(kmt_columns) == offsetof(kmt_columns, context) + sizeof(kmt_columns::context));

// Fills in the members that the caller knows. A caller that was built with an older header has a shorter structure.
template <typename Struct>
void fill_in(Struct* to, Struct from) {
  from.size = std::min(to->size, sizeof(Struct));
  std::memcpy(to, &from, from.size);
}

}  // namespace

}  // namespace kmemtrace

using namespace kmemtrace;

struct kmt_trace : OpenedTrace {
  using OpenedTrace::OpenedTrace;
  kmt::EventBatch batch;
  ColumnArrays arrays;
  Machine machine = machine_of(info());
};

kmt_trace* kmt_open(const char* path, kmt_error** error) {
  return without_exceptions<kmt_trace*>(error, nullptr, [&] { return new kmt_trace(path); });
}

void kmt_close(kmt_trace* trace) { delete trace; }

void kmt_get_machine(const kmt_trace* trace, kmt_machine* machine) {
  const Machine& of = trace->machine;
  fill_in(machine, {.size = 0,
                    .format = of.format.c_str(),
                    .kernel = of.kernel.c_str(),
                    .arch = of.arch.c_str(),
                    .clock = of.clock.c_str(),
                    .page_size = of.page_size,
                    .cpus = of.cpus,
                    .word_bits = of.word_bits,
                    .little_endian = of.little_endian,
                    .clock_in_ns = of.clock_in_ns});
}

int kmt_read(kmt_trace* trace, kmt_columns* columns, kmt_error** error) {
  return without_exceptions(error, -1, [&] {
    if (columns->size < offsetof(kmt_columns, time_ns))
      throw Error("The size of kmt_columns is " + std::to_string(columns->size) + " bytes, which is too small", "", {},
                  "Set its member `size` to sizeof(kmt_columns)");
    const bool has_more = trace->read(trace->batch);
    trace->arrays.resize(trace->batch.size());
    for (std::size_t i = 0; i < trace->batch.size(); ++i)
      trace->arrays.set(i, without_call_fields(trace->batch[i]), trace->info().tables);
    fill_in(columns, trace->arrays.columns());
    return has_more ? 1 : 0;
  });
}

uint64_t kmt_lost_events(const kmt_trace* trace) { return kmt::total_lost_events(trace->info().losses); }

const char* kmt_kind_name(uint8_t kind) { return kind < kKindNames.size() ? kKindNames[kind] : ""; }

const char* kmt_event_name(const kmt_trace* trace, uint32_t name) {
  const auto& types = trace->info().tables.event_types;
  return name < types.size() ? types[name].name.c_str() : "";
}

const char* kmt_cache_name(const kmt_trace* trace, uint32_t cache) {
  const auto& names = trace->info().tables.cache_names;
  return cache < names.size() ? names[cache].c_str() : "";
}

size_t kmt_stack(const kmt_trace* trace, uint32_t stack, const uint64_t** frames) {
  const kmt::StackTable& stacks = trace->info().tables.stacks;
  if (stack >= stacks.size()) return 0;
  const std::span<const std::uint64_t> addresses = stacks[kmt::StackId{stack}];
  *frames = addresses.data();
  return addresses.size();
}

char* kmt_symbol(const kmt_trace* trace, uint64_t address, kmt_error** error) {
  return without_exceptions<char*>(error, nullptr, [&] { return copy_of(trace->symbols().name(address)); });
}

char* kmt_task_name(const kmt_trace* trace, int32_t tid, uint64_t time_ns, kmt_error** error) {
  return without_exceptions<char*>(error, nullptr,
                                   [&] { return copy_of(kmt::task_name(trace->info().tasks, tid, time_ns)); });
}
