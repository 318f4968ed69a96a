// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/ledger.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kmt {

namespace {

void allocated_at(Account& account, std::uint64_t time_ns) {
  const bool first = account.allocations + account.failed_allocations == 0;
  account.first_ns = first ? time_ns : std::min(account.first_ns, time_ns);
  account.last_ns = std::max(account.last_ns, time_ns);
}

// Returns the lifetime in nanoseconds. Returns 0 if the end is earlier than the start, as in a damaged trace.
std::uint64_t lifetime(std::uint64_t began_ns, std::uint64_t end_ns) {
  return end_ns > began_ns ? end_ns - began_ns : 0;
}

}  // namespace

void Ledger::add(const MatchedBatch& batch, const BatchOrigins& origins) {
  origins_.insert(origins_.end(), origins.new_origins.begin(), origins.new_origins.end());
  for (const Origin& origin : origins.new_origins)
    if (accounts_.size() <= origin.group) accounts_.resize(origin.group + std::size_t{1});

  if (totals_) totals_->add(batch);
  if (!batch.events.empty() && !std::exchange(begun_, true) && window_) window_->begin(batch.events.front().time_ns);
  const PagesTaken* pages = batch.pages.data();
  const PagesTaken* const pages_end = pages + batch.pages.size();
  for (std::uint32_t i = 0; i < batch.events.size(); ++i) {
    const Step& step = batch.steps[i];
    const Event& event = batch.events[i];
    if (step.outcome == Outcome::unseen) continue;
    if (history_) history_->see(event);
    if (traffic_) traffic_->see(event);
    const PagesTaken* const taken = pages;
    while (pages != pages_end && pages->event == i) ++pages;
    const std::uint32_t freer = origins.freers.empty() ? 0 : origins.freers[i];

    if (step.outcome == Outcome::other) continue;
    if (step.outcome == Outcome::failed) {
      fail(event, step);
    } else if (allocator_of(event.kind) == Allocator::pages) {
      add_page_event(event, step, {taken, pages}, freer);
    } else if (begins(step.outcome)) {
      begin(event, step);
    } else if (step.outcome == Outcome::freed) {
      if (step.origin == 0) continue;
      end_freed(event,
                {step.began_ns, origins_[step.origin].bytes_allocated, step.origin, step.began_cpu, true, freer});
      check_free(event, step);
    } else if (step.selected) {
      add_unmatched(event, step);
    }
  }
}

// Handles a free that ends no allocation of the trace.
void Ledger::add_unmatched(const Event& event, const Step& step) {
  if (step.outcome == Outcome::freed_nothing) return;
  if (step.outcome == Outcome::freed_null) {
    if (totals_) ++totals_->of(allocator_of(event.kind)).null_frees;
    return;
  }
  const bool again = step.outcome != Outcome::allocated_before_trace;
  if (history_ && !again && is_slab_free(event.kind)) history_->freed_older(event);
  if (!totals_) return;
  ++totals_->of(allocator_of(event.kind)).unmatched_frees;
  if (again && options_.recorder.freed_own(event)) {
    ++totals_->recorder_frees;
    return;
  }
  found(again ? Imperfection::double_free_or_untraced_allocation : Imperfection::allocated_before_trace, event,
        step.call_site, event.call_site, event.cache.value);
}

void Ledger::fail(const Event& event, const Step& step) {
  if (step.origin == 0) return;
  const Origin& origin = origins_[step.origin];
  Account& account = accounts_[origin.group];
  allocated_at(account, event.time_ns);
  ++account.failed_allocations;
  if (totals_ && origin.allocator == Allocator::pages) ++totals_->orders[event.order].failed_allocations;
  found(Imperfection::failed_allocation, event, {}, event.call_site, event.cache.value);
}

void Ledger::open(const Event& event, std::uint32_t number) {
  const Origin& origin = origins_[number];
  if (history_) history_->began(number, origin);
  if (traffic_) traffic_->began(origin);
  Account& account = accounts_[origin.group];
  allocated_at(account, event.time_ns);
  ++account.allocations;
  account.bytes_requested += origin.bytes_requested;
  account.bytes_allocated += origin.bytes_allocated;
  ++account.live_allocations;
  grow_live(account, origin.bytes_allocated, event.time_ns);
  if (totals_) grow_live(totals_->of(origin.allocator), origin.bytes_allocated, event.time_ns);
}

void Ledger::replace(const Event& event, const Step& step) {
  const Origin& old = origins_[step.replaced];
  const Ending ending{step.began_ns, old.bytes_allocated, step.replaced, step.began_cpu, true};
  end_replaced(ending);
  if (step.outcome == Outcome::duplicate_event) {
    if (!options_.count_duplicates) take_back(old);
    return;
  }
  count_end(event, ending);
  if (history_) history_->reallocated(step.replaced, step.began_ns);
  found(
      step.outcome == Outcome::began ? Imperfection::allocation_on_live_pointer : Imperfection::free_before_allocation,
      event, old.call_site, event.call_site, old.cache);
}

void Ledger::begin(const Event& event, const Step& step) {
  if (step.replaced != 0) replace(event, step);
  if (step.origin == 0) return;
  const Origin& origin = origins_[step.origin];
  open(event, step.origin);
  if (!totals_ || !is_slab_alloc(event.kind)) return;
  if (origin.bytes_allocated < origin.bytes_requested)
    found(Imperfection::allocated_less_than_requested, event, {}, event.call_site, event.cache.value);
  if (event.node != kNoNode && event.cpu < options_.cpu_nodes.size() && options_.cpu_nodes[event.cpu] != event.node)
    ++totals_->cross_node_allocations;
}

void Ledger::take_back(const Origin& origin) {
  if (traffic_) traffic_->took_back(origin);
  Account& account = accounts_[origin.group];
  --account.allocations;
  account.bytes_requested -= origin.bytes_requested;
  account.bytes_allocated -= origin.bytes_allocated;
}

void Ledger::end_replaced(const Ending& ending) {
  end(ending);
  if (traffic_) traffic_->replaced(origins_[ending.origin], ending.bytes, ending.whole);
}

void Ledger::end(const Ending& ending) {
  const Origin& origin = origins_[ending.origin];
  Account& account = accounts_[origin.group];
  if (ending.whole) --account.live_allocations;
  account.live_bytes -= ending.bytes;
  if (totals_) totals_->of(origin.allocator).live_bytes -= ending.bytes;
  if (history_) history_->ended(ending.origin, origin, ending.bytes, ending.whole);
}

void Ledger::count_end(const Event& event, const Ending& ending) {
  const Origin& origin = origins_[ending.origin];
  const LiveCount amount{ending.whole ? 1u : 0u, ending.bytes};
  if (window_) window_->add(origin.allocator, origin.group, amount, ending.began_ns, event.time_ns);
  if (traffic_) traffic_->ended(origin.group, ending.bytes, ending.began_ns);
}

void Ledger::end_freed(const Event& event, const Ending& ending) {
  end(ending);
  count_end(event, ending);
  const Origin& origin = origins_[ending.origin];
  if (traffic_) traffic_->freed(origin, ending.bytes, ending.whole, ending.began_ns, ending.began_cpu);
  count_free(event, ending, accounts_[origin.group]);
  // An allocation of pages ends when its first page is freed. Parts that are freed later have no lifetime.
  if (options_.by_lifetime ? ending.whole : options_.by_freer) add_freed(event, ending, origin);
}

void Ledger::count_free(const Event& event, const Ending& ending, Account& account) const {
  account.bytes_freed += ending.bytes;
  if (!ending.whole) return;
  const bool cross_cpu = ending.began_cpu != event.cpu;
  const bool cross_node = cross_cpu && on_other_node(ending.began_cpu, event.cpu);
  ++account.matched_frees;
  account.lifetimes.add(lifetime(ending.began_ns, event.time_ns));
  account.cross_cpu_frees += cross_cpu ? 1 : 0;
  account.cross_node_frees += cross_node ? 1 : 0;
}

void Ledger::add_freed(const Event& event, const Ending& ending, const Origin& origin) {
  const std::uint64_t lived = options_.by_lifetime ? lifetime(ending.began_ns, event.time_ns) : 0;
  const unsigned octave = lived == 0 ? 0 : static_cast<unsigned>(std::bit_width(lived)) - 1;
  Account& account = freed_accounts_[{origin.group, ending.freer, octave}];
  count_free(event, ending, account);
  if (!ending.whole) return;
  allocated_at(account, ending.began_ns);
  ++account.allocations;
  account.bytes_requested += origin.bytes_requested;
  account.bytes_allocated += origin.bytes_allocated;
}

void Ledger::add_page_event(const Event& event, const Step& step, std::span<const PagesTaken> parts,
                            std::uint32_t freer) {
  if (step.outcome == Outcome::impossible_order) {
    if (totals_ && step.selected) ++totals_->anomalies[static_cast<std::size_t>(Imperfection::impossible_order)];
    return;
  }
  if (step.freed_again && step.selected && !options_.recorder.freed_own(event))
    found(Imperfection::pages_freed_twice, event, step.call_site, event.call_site, event.cache.value);
  bool of_selected = false;
  for (const PagesTaken& part : parts) {
    if (part.origin == 0) continue;
    of_selected = true;
    const Ending ending{part.began_ns, part.pages * options_.page_size, part.origin, part.began_cpu, part.head, freer};
    if (totals_) totals_->orders[part.order].live_bytes -= ending.bytes;
    if (event.kind == EventKind::page_free) {
      end_freed(event, ending);
    } else {
      end_replaced(ending);
      count_end(event, ending);
      if (history_ && part.head) history_->reallocated(part.origin, part.began_ns);
    }
  }
  if (event.kind == EventKind::page_alloc && step.origin != 0) open(event, step.origin);
  if (!totals_) return;
  PageOrderRow& row = totals_->orders[event.order];
  if (event.kind == EventKind::page_free) {
    if (of_selected || (parts.empty() && step.selected)) ++row.frees;
    return;
  }
  if (step.origin == 0) return;
  const Origin& origin = origins_[step.origin];
  ++row.allocations;
  row.bytes_allocated += origin.bytes_allocated;
  row.live_bytes += origin.bytes_allocated;
}

void Ledger::check_free(const Event& event, const Step& step) {
  if (!is_slab_free(event.kind)) return;
  if (history_) history_->freed(step.origin, event.cache);
  if (!totals_) return;
  const Origin& origin = origins_[step.origin];
  if (freed_by_wrong_family(origin.from_cache, event, options_.cache_object_may_be_kfreed))
    found(Imperfection::freed_by_another_family, event, origin.call_site, event.call_site, event.cache.value);
  else if (origin.from_cache && freed_to_wrong_cache(origin.cache, event))
    found(Imperfection::freed_by_another_cache, event, origin.call_site, event.call_site, event.cache.value);
}

void Ledger::found(Imperfection kind, const Event& event, CallSiteId first, CallSiteId second, std::uint32_t cache) {
  if (totals_) totals_->found(kind, event, first, second, cache);
}

bool Ledger::on_other_node(std::uint16_t cpu, std::uint16_t other) const {
  return cpu < options_.cpu_nodes.size() && other < options_.cpu_nodes.size() &&
         options_.cpu_nodes[cpu] != options_.cpu_nodes[other];
}

}  // namespace kmt
