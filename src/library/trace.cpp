// SPDX-License-Identifier: GPL-2.0-or-later
#include <kmemtrace/trace.hpp>

#include <array>

#include "formats/registry.hpp"
#include "library/convert.hpp"
#include "symbols/symbols.hpp"

namespace kmemtrace {

namespace {

// The public header has a copy of the program's EventKind. A new kind must be added to both lists.
static_assert(static_cast<int>(EventKind::page_free_batched) == static_cast<int>(kmt::EventKind::page_free_batched) &&
              static_cast<int>(EventKind::vmap_free) == static_cast<int>(kmt::EventKind::vmap_free) &&
              static_cast<int>(EventKind::syscall_exit) == static_cast<int>(kmt::EventKind::syscall_exit) &&
              static_cast<int>(EventKind::rcu_free) == static_cast<int>(kmt::EventKind::rcu_free));

constexpr std::array kContexts = {Context::task, Context::softirq, Context::hardirq, Context::nmi};

}  // namespace

struct Trace::State {
  std::unique_ptr<kmt::Source> source;
  kmt::WrapperList wrappers;
  kmt::Symbols symbols;
  kmt::EventBatch batch;
  std::size_t next = 0;  // index of the next event in `batch`

  explicit State(std::unique_ptr<kmt::Source> opened)
      : source(std::move(opened)), symbols(source->info(), {}, wrappers) {}
};

Trace::Trace(const std::string& path)
    : state_(guarded([&] { return std::make_unique<State>(kmt::open_trace(path)); })) {}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

Machine Trace::machine() const { return machine_of(state_->source->info()); }

bool Trace::next(Event& event) {
  State& state = *state_;
  while (state.next == state.batch.size()) {
    state.next = 0;
    if (!guarded([&] { return state.source->read(state.batch); })) {
      state.batch.clear();
      return false;
    }
  }
  const kmt::Event& read = state.batch[state.next++];
  const bool is_call = kmt::is_call(read.kind);  // Events of calls have other fields: see kmt::CallEvent
  const kmt::TraceInfo& info = state.source->info();
  const auto stack = info.tables.stacks[read.stack];
  event = Event{.time_ns = read.time_ns,
                .address = read.address,
                .bytes_requested = read.bytes_requested,
                .bytes_allocated = read.bytes_allocated,
                .call_site = info.tables.call_sites[read.call_site.value],
                .name = info.tables.event_types[read.type.value].name,
                .cache = is_call ? std::string_view() : std::string_view(info.tables.cache_names[read.cache.value]),
                .stack = stack.data(),
                .stack_size = stack.size(),
                .gfp_flags = is_call ? 0 : read.gfp_flags,
                .tid = read.tid,
                .cpu = read.cpu,
                .node = is_call ? kmt::kNoNode : read.node,
                .migrate_type = is_call ? std::int8_t{0} : read.migrate_type,
                .order = is_call ? std::uint8_t{0} : read.order,
                .kind = static_cast<EventKind>(read.kind),
                .context = kContexts[kmt::interrupt_level(read)]};
  return true;
}

std::uint64_t Trace::lost_events() const { return kmt::total_lost_events(state_->source->info().losses); }

std::vector<Finding> Trace::findings() const { return findings_of(state_->source->info().findings); }

std::string Trace::symbol(std::uint64_t address) const {
  return guarded([&] { return state_->symbols.name(address); });
}

std::string_view Trace::task_name(std::int32_t tid, std::uint64_t time_ns) const {
  return kmt::task_name(state_->source->info().tasks, tid, time_ns);
}

}  // namespace kmemtrace
