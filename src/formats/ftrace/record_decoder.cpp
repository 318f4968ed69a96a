// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/record_decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/ftrace/print_format.hpp"
#include "trace/calls/event.hpp"
#include "trace/calls/records.hpp"

namespace kmt {

CallSiteTable::CallSiteTable(std::vector<std::uint64_t>& addresses) : addresses_(addresses) {
  for (std::uint32_t id = 0; id < addresses.size(); ++id) *ids_.insert(addresses[id]).first = id;
}

CallSiteId CallSiteTable::id_of(std::uint64_t address) {
  const auto [id, inserted] = ids_.insert(address);
  if (inserted) {
    *id = static_cast<std::uint32_t>(addresses_.size());
    addresses_.push_back(address);
  }
  return {*id};
}

CacheNameTable::CacheNameTable(std::vector<std::string>& names) : names_(names) {
  for (std::uint32_t id = 0; id < names.size(); ++id) *ids_.insert(hash_of(names[id])).first = id;
}

CacheNameTable::Text CacheNameTable::words_of(std::string_view text) {
  const char* const at = text.data();
  const std::size_t bytes = text.size();
  if (bytes < 8)
    return {{load<std::uint32_t>(at, kHostOrder), 0, load<std::uint32_t>(at + bytes - 4, kHostOrder)}, bytes};
  return {
      {load<std::uint64_t>(at, kHostOrder), load<std::uint64_t>(at + std::min<std::size_t>(bytes - 8, 8), kHostOrder),
       load<std::uint64_t>(at + bytes - 8, kHostOrder)},
      bytes};
}

CacheId CacheNameTable::id_of(std::string_view text) {
  const auto name = [&text] { return text.substr(0, text.find('\0')); };
  if (text.size() < 4 || text.size() > 24) return look_up(name());
  const Text wanted = words_of(text);
  const std::uint64_t mixed = (wanted.words[0] ^ std::rotl(wanted.words[2], 23)) * 0x9E3779B97F4A7C15ull;
  Known& known = recent_[to_size(mixed >> 58)];
  if (known.text != wanted) known = {wanted, look_up(name())};
  return known.id;
}

CacheId CacheNameTable::look_up(std::string_view name) {
  for (std::uint64_t key = hash_of(name);; ++key) {
    const auto [id, inserted] = ids_.insert(key);
    if (inserted) {
      *id = static_cast<std::uint32_t>(names_.size());
      names_.emplace_back(name);
    }
    if (inserted || names_[*id] == name) return {*id};
  }
}

RecordDecoder::RecordDecoder(const std::vector<EventFormat>& formats, ByteOrder order, TraceInfo& info)
    : order_(order),
      info_(info),
      thread_groups_(info),
      call_sites_(info.tables.call_sites),
      cache_names_(info.tables.cache_names),
      stacks_(info.tables.stacks),
      user_stacks_(info) {
  for (const EventFormat& format : formats) {
    const EventTypeId type{static_cast<std::uint16_t>(info.tables.event_types.size())};
    Plan plan = plan_of(format, type, info.machine.word_bits / 8, info.recording.page_identity);
    if (std::vector<TaskNaming> namings = task_namings(format, plan.least_bytes); !namings.empty()) {
      plan.namings = static_cast<std::uint16_t>(namings_.size());
      namings_.push_back(std::move(namings));
    }
    if (plan.frame.size != 0 && (plan.is_values || plan.kind == EventKind::call_entry)) {
      plan.probed_values = static_cast<std::uint16_t>(probed_values_.size());
      probed_values_.push_back(probed_values(format, plan.least_bytes));
    }
    if (info.tables.gfp_flags.empty()) info.tables.gfp_flags = flag_names_of(format.print_format, "gfp_flags");
    if (plan.kind == EventKind::kmalloc && lacks_memcg(format.print_format)) info.machine.has_memcg = false;
    if (plan.kind == EventKind::page_alloc_extfrag)
      info.machine.pageblock_order = pageblock_order_of(format.print_format);
    if (const auto creation = task_creation(format, plan.least_bytes)) {
      plan.creates_task = true;
      task_creation_ = *creation;
    }
    if (const auto life = life_event(format, plan.least_bytes); life && life_events_.size() < 256) {
      plan.life = static_cast<std::uint8_t>(life_events_.size());
      life_events_.push_back(*life);
    }
    info.tables.event_types.push_back({format.system, format.name, plan.kind});
    if (plans_.size() <= format.id) plans_.resize(format.id + 1);
    plans_[format.id] = plan;
  }
}

inline std::uint64_t RecordDecoder::load_field(Bytes record, Field field) const {
  return field.size == 0 ? 0 : load_sized(record.data() + field.offset, field.size, order_);
}

// Returns the object that kvfree_call_rcu() frees. Until Linux 6.1, the second argument is the offset of the head in
// the object, if there is a head. In later kernels, the second argument is always the object.
static std::uint64_t object_of_rcu_free(std::uint64_t head, std::uint64_t argument) {
  constexpr std::uint64_t kOffsets = 4096;  // __is_kvfree_rcu_offset() in include/linux/rcupdate.h
  return head != 0 && argument < kOffsets ? head - argument : argument;
}

bool RecordDecoder::is_decoded_by_shape(Bytes record) const {
  const unsigned id = record.size() >= 2 ? load<std::uint16_t>(record.data(), order_) : 0;
  if (id >= plans_.size() || !plans_[id].described || record.size() < plans_[id].least_bytes) return false;
  const EventKind kind = plans_[id].kind;
  // Calls are decoded one by one, because each call may have different arguments.
  if (is_call(kind) && info_.calls.records) return false;
  if (plans_[id].old_free != OldPageFree::no) return false;  // decoding depends on the previous event
  // A shape leaves only one address blank, but these records have the objects' addresses in other fields.
  if (is_probed_free(kind) || plans_[id].most_objects != 0 || plans_[id].end_frame.size != 0) return false;
  return plans_[id].kind != EventKind::other || plans_[id].is_stack;
}

inline CacheId RecordDecoder::cache_of(const Plan& plan, Bytes record) {
  const std::uint64_t where = load_field(record, plan.cache_name);
  const std::uint64_t offset = where & 0xFFFF;
  const std::uint64_t length = where >> 16;
  if (offset + length > record.size()) return {};
  return cache_names_.id_of({reinterpret_cast<const char*>(record.data()) + offset, to_size(length)});
}

void RecordDecoder::decode(Bytes record, std::uint64_t time_ns, unsigned cpu, std::uint64_t file_offset,
                           EventBatch& batch) {
  const unsigned id = record.size() >= 2 ? load<std::uint16_t>(record.data(), order_) : 0;
  const Plan* const plan = id < plans_.size() && plans_[id].described ? &plans_[id] : nullptr;
  if (plan == nullptr || record.size() < plan->least_bytes) {
    report_undecodable(plan, id, record, time_ns, cpu, file_offset);
    return;
  }

  // Filled in place: copying an event right after its small fields were written stalls the CPU.
  Event& event = batch.emplace_back();
  event.time_ns = time_ns;
  event.cpu = static_cast<std::uint16_t>(cpu);
  event.type = plan->type;
  event.kind = plan->kind;
  event.context = static_cast<std::uint8_t>(load_field(record, plan->flags));
  event.tid = static_cast<std::int32_t>(load_field(record, plan->pid));
  if (is_call(plan->kind)) return decode_call(*plan, record, event);
  event.node = kNoNode;

  switch (plan->kind) {
    case EventKind::kmalloc:
    case EventKind::cache_alloc:
      event.bytes_requested = load_field(record, plan->bytes_requested);
      event.bytes_allocated = load_field(record, plan->bytes_allocated);
      event.gfp_flags = static_cast<std::uint32_t>(load_field(record, plan->gfp_flags));
      if (plan->node.size != 0) event.node = static_cast<std::int16_t>(load_field(record, plan->node));
      if (plan->accounted.size != 0)
        event.page_flags = load_field(record, plan->accounted) != 0 ? AccountFlags::kKnown | AccountFlags::kCharged
                                                                    : AccountFlags::kKnown;
      [[fallthrough]];
    case EventKind::kfree:
    case EventKind::cache_free:
      event.address = load_field(record, plan->address);
      event.call_site = call_sites_.id_of(load_field(record, plan->call_site));
      if (plan->cache_name.size != 0) event.cache = cache_of(*plan, record);
      if (plan->most_objects != 0) decode_objects(*plan, record, batch);
      break;
    case EventKind::bulk_free:
    case EventKind::rcu_free: decode_probed_free(*plan, record, batch); break;
    case EventKind::page_alloc:
    case EventKind::page_free:
    case EventKind::page_free_batched:
    case EventKind::page_alloc_zone_locked:
    case EventKind::page_pcpu_drain:
    case EventKind::page_alloc_extfrag:
      if (plan->most_objects != 0) {
        decode_listed_pages(*plan, record, batch);
        break;
      }
      if (plan->end_frame.size != 0) {
        decode_page_range(*plan, record, batch);
        break;
      }
      decode_page(*plan, record, event);
      if (plan->old_free != OldPageFree::no) mark_repeated_free(plan->old_free, event);
      break;
    case EventKind::percpu_alloc:
    case EventKind::percpu_free:
    case EventKind::vmap_alloc:
    case EventKind::vmap_free:
      // If the allocation of an area failed, `addr` is an error code or the end of the searched range.
      if (load_field(record, plan->failed) == 0) event.address = load_field(record, plan->address);
      event.bytes_requested = load_field(record, plan->bytes_requested);
      event.bytes_allocated = load_field(record, plan->bytes_allocated);
      event.gfp_flags = static_cast<std::uint32_t>(load_field(record, plan->gfp_flags));
      event.call_site = call_sites_.id_of(load_field(record, plan->call_site));
      break;
    case EventKind::syscall_enter:
    case EventKind::syscall_exit: event.address = load_field(record, plan->address); break;
    case EventKind::stall_begin:
    case EventKind::stall_end:
    case EventKind::stall_mark: decode_stall(*plan, record, event); break;
    case EventKind::call_entry:
    case EventKind::call_exit: break;  // decode_call() has already decoded this event
    case EventKind::other:
      if (plan->is_stack) decode_stack(*plan, record, event);
      if (plan->is_values && info_.calls.records) keep_values(*plan, record, cpu);
      if (plan->creates_task) thread_groups_.learn(task_creation_, record, order_, time_ns);
      if (plan->life != 0) learn_life(life_events_[plan->life], record, order_, time_ns, info_);
      if (plan->namings != 0) learn_task_names(namings_[plan->namings], record, order_, time_ns, info_.tasks.names);
      break;
  }
}

// Completes the last event of the batch, a free that a probe recorded. Adds an event for each further object of the
// record.
void RecordDecoder::decode_probed_free(const Plan& plan, Bytes record, EventBatch& batch) {
  Event& event = batch.back();
  event.call_site = call_sites_.id_of(load_field(record, plan.call_site));
  event.address = object_of_rcu_free(load_field(record, plan.head), load_field(record, plan.address));
  if (load_field(record, plan.cache) != 0) event.cache = cache_of(plan, record);
  if (plan.most_objects != 0) decode_objects(plan, record, batch);
}

// Replaces the last event of the batch by one event for each object of its record.
void RecordDecoder::decode_objects(const Plan& plan, Bytes record, EventBatch& batch) {
  const Event first = batch.back();
  const bool has_failed = plan.result.size != 0 && load_field(record, plan.result) == 0;
  const std::uint64_t count = has_failed ? 0 : load_field(record, plan.count);
  const std::uint64_t recorded = std::min<std::uint64_t>(count, plan.most_objects);
  // Without a cache, the objects were passed to kfree_rcu() earlier, and each has its own rcu_free event.
  if (count > recorded && (plan.cache.size == 0 || load_field(record, plan.cache) != 0))
    info_.findings.add({Imperfection::unrecorded_objects, "", first.cpu, {}, first.time_ns}, count - recorded);
  if (recorded == 0) batch.back().kind = EventKind::other;  // keep the event in the batch, because its stack may follow
  for (std::uint64_t i = 0; i < recorded; ++i) {
    Event& event = i == 0 ? batch.back() : batch.emplace_back(first);
    event.address = load_sized(record.data() + plan.objects + i * plan.count.size, plan.count.size, order_);
    if (i > 0) event.page_flags |= BulkFlags::kSameRecord;
  }
}

// Replaces the last event of the batch, a bulk allocation of pages, by one event for each page. The record has the
// addresses of the pages' struct page. They become frame numbers, as in the other events of pages.
void RecordDecoder::decode_listed_pages(const Plan& plan, Bytes record, EventBatch& batch) {
  batch.back().call_site = call_sites_.id_of(load_field(record, plan.call_site));
  batch.back().gfp_flags = static_cast<std::uint32_t>(load_field(record, plan.gfp_flags));
  batch.back().migrate_type = -1;
  batch.back().page_flags = BulkFlags::kMayBeLive;
  const std::size_t first = batch.size() - 1;
  decode_objects(plan, record, batch);
  if (batch[first].kind == EventKind::other) return;
  const std::uint64_t first_page = load_field(record, plan.first_page);
  const std::uint64_t page_bytes = load_field(record, plan.page_bytes);
  // Keep only the events of pages whose frame is known. The first of them replaces the event for the whole record.
  std::size_t kept = first;
  for (std::size_t i = first; i < batch.size(); ++i) {
    const std::uint64_t offset = batch[i].address - first_page;
    if (page_bytes == 0 || batch[i].address < first_page || offset % page_bytes != 0) continue;
    batch[kept] = batch[i];
    batch[kept].address = offset / page_bytes;
    batch[kept].page_flags = BulkFlags::kMayBeLive | (kept > first ? BulkFlags::kSameRecord : 0);
    ++kept;
  }
  const std::uint64_t unknown = batch.size() - kept;
  if (kept == first) {
    batch[first].kind = EventKind::other;
    batch[first].page_flags = 0;
    ++kept;
  }
  batch.resize(kept);
  if (unknown > 0)
    info_.findings.add({Imperfection::unrecorded_objects, "", batch[first].cpu, {}, batch[first].time_ns}, unknown);
}

// Replaces the last event of the batch, an allocation of a range of pages, by an event for each block of the range. The
// size of a block is a power of two, and its first frame is a multiple of its size.
void RecordDecoder::decode_page_range(const Plan& plan, Bytes record, EventBatch& batch) {
  constexpr int kMostOrder = 18;            // a huge page of 1 GiB, if a page has 4 KiB
  constexpr std::size_t kMostBlocks = 256;  // a larger range is implausible, because the range may be damaged
  batch.back().call_site = call_sites_.id_of(load_field(record, plan.call_site));
  batch.back().gfp_flags = static_cast<std::uint32_t>(load_field(record, plan.gfp_flags));
  batch.back().migrate_type = -1;
  const Event first = batch.back();
  std::uint64_t frame = load_field(record, plan.address);
  const std::uint64_t end = load_field(record, plan.end_frame);
  if (load_field(record, plan.failed) != 0 || frame >= end) {
    batch.back().kind = EventKind::other;  // keep the event in the batch, because its stack may follow
    return;
  }
  for (std::size_t blocks = 0; frame < end && blocks < kMostBlocks; ++blocks) {
    const int order =
        std::min({std::countr_zero(frame), static_cast<int>(std::bit_width(end - frame)) - 1, kMostOrder});
    Event& event = blocks == 0 ? batch.back() : batch.emplace_back(first);
    event.address = frame;
    event.order = static_cast<std::uint8_t>(order);
    if (blocks > 0) event.page_flags |= BulkFlags::kSameRecord;
    frame += std::uint64_t{1} << order;
  }
  if (frame < end)
    info_.findings.add({Imperfection::unrecorded_objects, "", first.cpu, {}, first.time_ns}, end - frame);
}

void RecordDecoder::decode_page(const Plan& plan, Bytes record, Event& event) const {
  const auto order = [&](Field field) {
    return static_cast<std::uint8_t>(std::min<std::uint64_t>(load_field(record, field), 255));
  };
  event.address = load_field(record, plan.address);
  const bool is_frame = info_.recording.page_identity == PageIdentity::frame;
  if (is_frame ? is_no_page(event.address, plan.address.size) : event.address == 0) event.address = kNoPage;
  event.order = order(plan.order);
  event.gfp_flags = static_cast<std::uint32_t>(load_field(record, plan.gfp_flags));
  const std::uint64_t migrate_type = load_field(record, plan.migrate_type);
  event.migrate_type = migrate_type <= 127 ? static_cast<std::int8_t>(migrate_type) : std::int8_t{-1};

  if (event.kind == EventKind::page_alloc_zone_locked) {
    // Kernels before Linux 5.19 lack the field percpu_refill. They print "order == 0" instead.
    const bool refill = plan.percpu_refill.size != 0 ? load_field(record, plan.percpu_refill) != 0 : event.order == 0;
    if (refill) event.page_flags |= PageFlags::kPercpuRefill;
  }
  if (event.kind == EventKind::page_alloc_extfrag) {
    event.fallback_order = order(plan.fallback_order);
    // Kernels before Linux 3.13 lack the field change_ownership. They print 1 if the two migrate types are equal.
    const std::uint64_t fallback = load_field(record, plan.fallback_migrate_type);
    const bool changed =
        plan.change_ownership.size != 0 ? load_field(record, plan.change_ownership) != 0 : fallback == migrate_type;
    if (changed) event.page_flags |= PageFlags::kOwnershipChanged;
    event.page_flags |= static_cast<std::uint8_t>(std::min<std::uint64_t>(fallback, PageFlags::kMostFallbackType)
                                                  << PageFlags::kFallbackTypeShift);
  }
}

void RecordDecoder::decode_stall(const Plan& plan, Bytes record, Event& event) const {
  event.fallback_order = static_cast<std::uint8_t>(plan.stall);
  event.order = static_cast<std::uint8_t>(std::min<std::uint64_t>(load_field(record, plan.order), 255));
  event.gfp_flags = static_cast<std::uint32_t>(load_field(record, plan.gfp_flags));
  if (plan.node.size != 0) event.node = static_cast<std::int16_t>(load_field(record, plan.node));
  event.bytes_requested = load_field(record, plan.scanned);
  event.bytes_allocated = load_field(record, plan.reclaimed);
  event.address = plan.delay_us.size != 0 ? load_field(record, plan.delay_us) * 1000 : load_field(record, plan.address);
}

// Marks the second of two events that report the same free. Linux 2.6.32 and 2.6.33 report most frees of single pages
// with two mm_page_free_direct events: __free_pages() and free_hot_page() both have the tracepoint. Since Linux 2.6.34,
// a free that mm_pagevec_free reports is reported again by a later mm_page_free_direct. The page is not free yet when
// the second event follows, so it cannot be allocated in between.
void RecordDecoder::mark_repeated_free(OldPageFree type, Event& event) {
  constexpr std::uint64_t kLongestDelay = 1'000'000;  // maximum time between the two events, in nanoseconds
  FreedPage& last = freed_pages_[unsigned{event.cpu} << 8 | event.context];
  const bool is_repeated = type == OldPageFree::direct && last.type != OldPageFree::no &&
                           last.address == event.address && last.tid == event.tid && event.order == 0 &&
                           event.time_ns >= last.time_ns && event.time_ns - last.time_ns <= kLongestDelay;
  if (!is_repeated) {
    last = {type, event.address, event.time_ns, event.tid};
    return;
  }
  event.kind = last.type == OldPageFree::batched ? EventKind::page_free_batched : EventKind::other;
  last = {};  // a third event would be another free
}

// Decodes a call. Its duration is in nanoseconds of the local clock, even if the trace has another clock.
void RecordDecoder::decode_call(const Plan& plan, Bytes record, Event& event) {
  CallEvent call = as_call(event);
  call.function = load_field(record, plan.address);
  call.depth = static_cast<std::uint8_t>(std::min<std::uint64_t>(load_field(record, plan.depth), kMostCallDepth));
  if (plan.frame.size != 0) {
    call.frame = static_cast<std::uint32_t>(load_field(record, plan.frame));
    call.flags |= CallFlags::kFrame;
  }
  if (plan.most_arguments != 0 && info_.calls.records) call.record = keep_call_record(plan, record, event.cpu);
  if (plan.return_value.size != 0) {
    call.return_value = load_field(record, plan.return_value);
    call.flags |= CallFlags::kReturnValue;
  }
  if (plan.kind == EventKind::call_exit && info_.calls.records)
    if (const Bytes late = values_of(plan, record); !late.empty()) call.record = info_.calls.records->add({}, late);
  const std::uint64_t began = load_field(record, plan.began);
  const std::uint64_t ended = load_field(record, plan.ended);
  if (plan.began.size != 0 && plan.ended.size != 0 && ended >= began) {
    call.duration_ns = ended - began;
    call.flags |= CallFlags::kDuration;
  }
  event = as_event(call);
}

// Returns the values that the recorder read from memory.
Bytes RecordDecoder::values_of(const Plan& plan, Bytes record) const {
  if (plan.values.size == 0) return {};
  const std::uint64_t where = load_field(record, plan.values);
  const std::uint64_t offset = where & 0xFFFF;
  const std::uint64_t length = where >> 16;
  return offset + length <= record.size() ? record.subspan(to_size(offset), to_size(length)) : Bytes();
}

bool RecordDecoder::is_same_call(const PendingValues& values, const Plan& plan, Bytes record) const {
  const auto is_same = [&](Field of_values, Field of_record) {
    return load_field(Bytes(values.record), of_values) == load_field(record, of_record);
  };
  return is_same(values.plan->address, plan.address) && is_same(values.plan->frame, plan.frame) &&
         is_same(values.plan->pid, plan.pid);
}

void RecordDecoder::keep_values(const Plan& plan, Bytes record, unsigned cpu) {
  PendingCall& pending = pending_values_[cpu];
  const auto is_other = [&](const PendingValues& values) {
    return values.plan == &plan || !is_same_call(values, plan, record);
  };
  // Maximum number of value records that are kept for one call. No call needs so many.
  constexpr std::size_t kMostOfACall = 256;
  if (pending.values.size() >= kMostOfACall || std::ranges::any_of(pending.values, is_other)) pending.values.clear();
  if (pending.values.empty()) pending.losses = info_.losses.intervals.size();
  pending.values.push_back({&plan, {record.begin(), record.end()}});
}

// Adds the values of the preceding records to the entry of a call. The kernel runs all handlers of a probe one after
// the other, and no handler of another probe in between on this CPU. So the records of a call follow each other. After
// a loss, adds nothing, because the remaining records may belong to another call of the same function.
void RecordDecoder::take_values(const Plan& entry, Bytes record, unsigned cpu, std::span<const std::uint64_t> registers,
                                ReadValues& to) {
  const auto found = pending_values_.find(cpu);
  if (found == pending_values_.end()) return;
  const PendingCall pending = std::move(found->second);
  pending_values_.erase(found);
  for (std::size_t i = pending.losses; i < info_.losses.intervals.size(); ++i)
    if (info_.losses.intervals[i].cpu == cpu) return;
  for (const PendingValues& values : pending.values)
    if (is_same_call(values, entry, record))
      read_values(probed_values_[values.plan->probed_values], values.record, order_, registers, to);
}

// Stores the arguments and values of a call. Reads arguments up to the end of the record, because the format may not
// state the size of the array.
std::uint64_t RecordDecoder::keep_call_record(const Plan& plan, Bytes record, unsigned cpu) {
  const unsigned word_bytes = info_.machine.word_bits / 8;
  std::array<std::uint64_t, kMostCallArguments> registers;
  std::size_t count = 0;
  for (std::size_t at = plan.arguments; count < plan.most_arguments && at + word_bytes <= record.size();
       at += word_bytes)
    registers[count++] = load_sized(record.data() + at, word_bytes, order_);
  const auto known = std::span(registers).first(count);
  if (plan.probed_values == 0) return info_.calls.records->add(known, values_of(plan, record));
  ReadValues values;
  read_values(probed_values_[plan.probed_values], record, order_, known, values);
  if (values.empty()) take_values(plan, record, cpu, known, values);
  return info_.calls.records->add(known, joined(values, order_));
}

// Reads the addresses of a stack. Old kernels write an array of fixed size, in which the address -1 ends a shorter
// stack.
void RecordDecoder::decode_stack(const Plan& plan, Bytes record, Event& event) {
  const unsigned word_bytes = info_.machine.word_bits / 8;
  std::uint64_t depth = std::min<std::uint64_t>((record.size() - plan.callers) / word_bytes, plan.most_depth);
  if (plan.depth.size != 0) depth = std::min(depth, load_field(record, plan.depth));
  std::array<std::uint64_t, kMostStackDepth> addresses;
  std::size_t count = 0;
  for (; count < depth; ++count) {
    addresses[count] = load_sized(record.data() + plan.callers + count * word_bytes, word_bytes, order_);
    if (addresses[count] == (word_bytes == 4 ? 0xFFFFFFFFu : ~std::uint64_t{0})) break;
    if (plan.is_user_stack && addresses[count] == 0) break;  // the kernel fills the rest of the array with zeros
  }
  const auto found = std::span(addresses).first(count);
  if (!plan.is_user_stack) {
    event.stack = stacks_.id_of(found);
    return;
  }
  event.page_flags = StackFlags::kUser;
  event.address = user_stacks_.keep(static_cast<std::int32_t>(load_field(record, plan.process)), found).value;
}

void RecordDecoder::report_undecodable(const Plan* plan, unsigned id, Bytes record, std::uint64_t time_ns, unsigned cpu,
                                       std::uint64_t file_offset) {
  forget_values(cpu);
  const Imperfection kind =
      plan == nullptr && record.size() >= 2 ? Imperfection::unknown_event : Imperfection::short_record;
  std::string detail;
  if (info_.findings.wants(kind)) {
    if (plan == nullptr)
      detail = fmt::format("event id {}, {} bytes", id, record.size());
    else
      detail =
          fmt::format("{}: {} bytes, its fields need {}", printable(info_.tables.event_types[plan->type.value].name),
                      record.size(), plan->least_bytes);
  }
  info_.findings.add({kind, std::move(detail), cpu, file_offset, time_ns});
}

}  // namespace kmt
