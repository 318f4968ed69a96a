// SPDX-License-Identifier: GPL-2.0-or-later
#include <kmemtrace/trace.hpp>

#include <array>
#include <utility>

#include "library/convert.hpp"
#include "library/opened_trace.hpp"

namespace kmemtrace {

namespace {

// The public header has a copy of the program's EventKind. A new kind must be added to both lists.
static_assert(static_cast<int>(EventKind::page_free_batched) == static_cast<int>(kmt::EventKind::page_free_batched) &&
              static_cast<int>(EventKind::vmap_free) == static_cast<int>(kmt::EventKind::vmap_free) &&
              static_cast<int>(EventKind::syscall_exit) == static_cast<int>(kmt::EventKind::syscall_exit) &&
              static_cast<int>(EventKind::stall_mark) == static_cast<int>(kmt::EventKind::stall_mark));

constexpr std::array kContexts = {Context::task, Context::softirq, Context::hardirq, Context::nmi};

}  // namespace

struct Trace::State : OpenedTrace {
  using OpenedTrace::OpenedTrace;
  kmt::EventBatch batch;
  std::size_t next = 0;  // index of the next event in `batch`
};

Trace::Trace(const std::string& path) : state_(guarded([&] { return std::make_unique<State>(path); })) {}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

Machine Trace::machine() const { return machine_of(state_->info()); }

bool Trace::next(Event& event) {
  State& state = *state_;
  if (state.next == state.batch.size()) {
    // After an exception, the batch is empty, so that the next call does not return half-read events.
    kmt::EventBatch batch = std::exchange(state.batch, {});
    state.next = 0;
    if (!guarded([&] { return state.read(batch); })) return false;
    state.batch = std::move(batch);
  }
  const kmt::Event read = without_call_fields(state.batch[state.next++]);
  const kmt::TraceInfo& info = state.info();
  const auto stack = info.tables.stacks[read.stack];
  event = Event{.time_ns = read.time_ns,
                .address = read.address,
                .bytes_requested = read.bytes_requested,
                .bytes_allocated = read.bytes_allocated,
                .call_site = info.tables.call_sites[read.call_site.value],
                .name = info.tables.event_types[read.type.value].name,
                .cache = info.tables.cache_names[read.cache.value],
                .stack = stack.data(),
                .stack_size = stack.size(),
                .gfp_flags = read.gfp_flags,
                .tid = read.tid,
                .cpu = read.cpu,
                .node = read.node,
                .migrate_type = read.migrate_type,
                .order = read.order,
                .kind = static_cast<EventKind>(read.kind),
                .context = kContexts[kmt::interrupt_level(read)]};
  return true;
}

std::uint64_t Trace::lost_events() const { return kmt::total_lost_events(state_->info().losses); }

std::vector<Finding> Trace::findings() const { return findings_of(state_->info().findings); }

std::string Trace::symbol(std::uint64_t address) const {
  return guarded([&] { return state_->symbols().name(address); });
}

std::string_view Trace::task_name(std::int32_t tid, std::uint64_t time_ns) const {
  return kmt::task_name(state_->info().tasks, tid, time_ns);
}

}  // namespace kmemtrace
