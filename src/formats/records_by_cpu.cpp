// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/records_by_cpu.hpp"

#include <utility>

namespace kmt {

namespace {

constexpr std::size_t kGivenAtOnce = 1u << 20;  // when a CPU has this many bytes of records, they are passed on
// When all CPUs together have this many bytes of records, all are passed on, to limit the memory for traces of many
// CPUs.
constexpr std::size_t kMostHeld = 64u << 20;

}  // namespace

void RecordsByCpu::record(unsigned cpu, std::uint64_t ticks, Bytes record) {
  add(cpu, {ticks, record.size(), false, {}}, record);
}

void RecordsByCpu::lost(unsigned cpu, std::optional<std::uint64_t> count) { add(cpu, {0, 0, true, count}, {}); }

void RecordsByCpu::finish() {
  for (auto& [cpu, held] : cpus_)
    if (!held.items.empty()) give(cpu, held);
}

void RecordsByCpu::add(unsigned cpu, const Item& item, Bytes record) {
  Held& held = cpus_[cpu];
  held.items.push_back(item);
  held.records.insert(held.records.end(), record.begin(), record.end());
  held_bytes_ += sizeof item + record.size();
  if (held.size() >= kGivenAtOnce)
    give(cpu, held);
  else if (held_bytes_ >= kMostHeld)
    finish();
}

void RecordsByCpu::give(unsigned cpu, Held& held) {
  sink_.begin_stream({cpu, "", page_bytes_, std::exchange(held.begun, true)});
  Bytes records(held.records);
  for (const Item& item : held.items) {
    if (item.is_loss)
      sink_.lost(item.lost);
    else
      sink_.record(item.ticks, records.first(item.bytes));
    records = records.subspan(item.bytes);
  }
  sink_.end_stream();
  held_bytes_ -= held.size();
  held.items = {};
  held.records = {};
}

}  // namespace kmt
