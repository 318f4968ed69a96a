// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/record_plan.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "formats/ftrace/probed_values.hpp"
#include "trace/code/syscall_names.hpp"

namespace kmt {

namespace {

// kmem events, including those of old kernels (include/trace/events/kmem.h, 2.6.31 to 6.18).
constexpr std::pair<std::string_view, EventKind> kKmemEvents[] = {
    {"kmalloc", EventKind::kmalloc},
    {"kmalloc_node", EventKind::kmalloc},
    {"kfree", EventKind::kfree},
    {"kmem_cache_alloc", EventKind::cache_alloc},
    {"kmem_cache_alloc_node", EventKind::cache_alloc},
    {"kmem_cache_free", EventKind::cache_free},
    {"mm_page_alloc", EventKind::page_alloc},
    {"mm_page_free", EventKind::page_free},
    {"mm_page_free_direct", EventKind::page_free},
    {"mm_page_free_batched", EventKind::page_free_batched},
    {"mm_pagevec_free", EventKind::page_free},
    {"mm_page_alloc_zone_locked", EventKind::page_alloc_zone_locked},
    {"mm_page_pcpu_drain", EventKind::page_pcpu_drain},
    {"mm_page_alloc_extfrag", EventKind::page_alloc_extfrag},
};

// From include/trace/events/percpu.h and vmalloc.h, Linux 6.18. Events about percpu chunks and vmap purging are
// omitted, because they are not allocations.
constexpr std::pair<std::string_view, EventKind> kPercpuEvents[] = {
    {"percpu_alloc_percpu", EventKind::percpu_alloc},
    {"percpu_alloc_percpu_fail", EventKind::percpu_alloc},
    {"percpu_free_percpu", EventKind::percpu_free},
};
constexpr std::pair<std::string_view, EventKind> kVmallocEvents[] = {
    {"alloc_vmap_area", EventKind::vmap_alloc},
    {"free_vmap_area_noflush", EventKind::vmap_free},
};

// From kernel/trace/trace_entries.h, Linux 6.18.
constexpr std::pair<std::string_view, EventKind> kCallEvents[] = {
    {"funcgraph_entry", EventKind::call_entry},
    {"fgraph_retaddr_entry", EventKind::call_entry},
    {"funcgraph_exit", EventKind::call_exit},
};

// Events that kmemtrace creates: docs/formats/kmt.md, "Types of calls" and "Events of probes".
constexpr std::pair<std::string_view, EventKind> kOwnEvents[] = {
    {"call_entry", EventKind::call_entry},       {"call_exit", EventKind::call_exit},
    {"free_bulk", EventKind::bulk_free},         {"free_rcu", EventKind::rcu_free},
    {"free_nolock", EventKind::bulk_free},       {"free_rcu_nolock", EventKind::rcu_free},
    {"alloc_nolock", EventKind::kmalloc},        {"alloc_bulk", EventKind::cache_alloc},
    {"alloc_pages_bulk", EventKind::page_alloc}, {"alloc_page_range", EventKind::page_alloc},
};

// Names of probe events. The first two are followed by a number that identifies the set of values that the probe reads.
// In older recordings, the event probe_entry_N also contains the values.
constexpr std::string_view kProbeEntry = "probe_entry_";
constexpr std::string_view kProbeValues = "probe_values_";
constexpr std::string_view kProbeExit = "probe_exit";

constexpr std::pair<std::string_view, EventKind> kSyscallEvents[] = {
    {"sys_enter", EventKind::syscall_enter},
    {"sys_exit", EventKind::syscall_exit},
};

struct StallEvent {
  std::string_view system;
  std::string_view name;
  EventKind kind;
  StallKind stall;
};
// Events about waiting for memory (include/trace/events/vmscan.h, compaction.h and oom.h, Linux 6.18; writeback.h,
// Linux 5.15).
constexpr StallEvent kStallEvents[] = {
    {"vmscan", "mm_vmscan_direct_reclaim_begin", EventKind::stall_begin, StallKind::direct_reclaim},
    {"vmscan", "mm_vmscan_direct_reclaim_end", EventKind::stall_end, StallKind::direct_reclaim},
    {"vmscan", "mm_vmscan_memcg_reclaim_begin", EventKind::stall_begin, StallKind::cgroup_reclaim},
    {"vmscan", "mm_vmscan_memcg_reclaim_end", EventKind::stall_end, StallKind::cgroup_reclaim},
    {"vmscan", "mm_vmscan_node_reclaim_begin", EventKind::stall_begin, StallKind::node_reclaim},
    {"vmscan", "mm_vmscan_node_reclaim_end", EventKind::stall_end, StallKind::node_reclaim},
    {"vmscan", "mm_vmscan_throttled", EventKind::stall_mark, StallKind::throttled},
    {"writeback", "writeback_congestion_wait", EventKind::stall_mark, StallKind::throttled},
    {"writeback", "writeback_wait_iff_congested", EventKind::stall_mark, StallKind::throttled},
    {"vmscan", "mm_vmscan_kswapd_wake", EventKind::stall_begin, StallKind::kswapd},
    {"vmscan", "mm_vmscan_kswapd_sleep", EventKind::stall_end, StallKind::kswapd},
    {"vmscan", "mm_vmscan_lru_shrink_inactive", EventKind::stall_mark, StallKind::scan},
    {"compaction", "mm_compaction_try_to_compact_pages", EventKind::stall_mark, StallKind::compaction_request},
    {"compaction", "mm_compaction_begin", EventKind::stall_begin, StallKind::compaction},
    {"compaction", "mm_compaction_end", EventKind::stall_end, StallKind::compaction},
    {"compaction", "mm_compaction_deferred", EventKind::stall_mark, StallKind::compaction_deferred},
    {"compaction", "mm_compaction_kcompactd_wake", EventKind::stall_begin, StallKind::kcompactd},
    {"compaction", "mm_compaction_kcompactd_sleep", EventKind::stall_end, StallKind::kcompactd},
    {"oom", "mark_victim", EventKind::stall_mark, StallKind::oom_victim},
};

const StallEvent* stall_event(std::string_view system, std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kStallEvents, [&](const StallEvent& event) { return event.name == name && event.system == system; });
  return found == std::end(kStallEvents) ? nullptr : found;
}

bool is_user_stack(const EventFormat& format) { return format.system == "ftrace" && format.name == "user_stack"; }
bool is_stack(const EventFormat& format) {
  return is_user_stack(format) || (format.system == "ftrace" && format.name == "kernel_stack");
}

// Finds fields of an event. Raises plan.least_bytes to the size of a record that has all fields found.
class FieldFinder {
 public:
  FieldFinder(const EventFormat& format, RecordPlan& plan) : format_(format), plan_(plan) {}

  // Returns the first of these fields that the event has. If `dynamic` is true, finds only fields with a __data_loc,
  // otherwise only fields without one.
  RecordField operator()(std::initializer_list<const char*> names, bool dynamic = false) const {
    for (const char* const name : names) {
      const FormatField* const field = format_.field(name);
      if (field == nullptr || field->offset > 0x7FFF || field->is_dynamic != dynamic) continue;
      if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8) continue;
      plan_.least_bytes = std::max(plan_.least_bytes, field->offset + field->size);
      return {static_cast<std::uint16_t>(field->offset), static_cast<std::uint8_t>(field->size)};
    }
    return {};
  }

 private:
  const EventFormat& format_;
  RecordPlan& plan_;
};

// Finds the fields of an event about several objects: their number, and an array with the addresses of the first ones.
void plan_objects(const EventFormat& format, const FieldFinder& find, RecordPlan& plan) {
  plan.cache = find({"cache"});
  plan.count = find({"count"});
  plan.result = find({"result"});
  const FormatField* const objects = format.field("objects");
  if (objects == nullptr || plan.count.size == 0 || objects->is_dynamic || objects->offset > 0x7FFF ||
      objects->size % plan.count.size != 0)
    return;
  std::uint64_t bytes = objects->size;
  // A kprobe event cannot fetch a longer array than `objects`, so a second field may have the remaining elements.
  if (const FormatField* const more = format.field("more_objects");
      more != nullptr && !more->is_dynamic && more->offset == objects->offset + objects->size)
    bytes += more->size;
  constexpr std::uint64_t kMostBytes = 0x7FFF;  // no record is longer
  if (bytes > kMostBytes) return;
  plan.objects = objects->offset;
  plan.most_objects = static_cast<std::uint32_t>(bytes) / plan.count.size;
  plan.least_bytes = std::max(plan.least_bytes, plan.objects + static_cast<std::uint32_t>(bytes));
}

void plan_slab_event(const EventFormat& format, const FieldFinder& find, RecordPlan& plan) {
  if (plan.kind == EventKind::kmalloc || plan.kind == EventKind::cache_alloc) {
    plan.bytes_requested = find({"bytes_req"});
    plan.bytes_allocated = find({"bytes_alloc"});
    // The probe of kmalloc_nolock() does not record the size of the object, so the requested size is used.
    if (plan.bytes_allocated.size == 0 && format.system == "kmemtrace") plan.bytes_allocated = plan.bytes_requested;
    plan.gfp_flags = find({"gfp_flags"});
    plan.node = find({"node"});
    plan.accounted = find({"accounted"});
  }
  plan.address = find({"ptr"});
  plan.call_site = find({"call_site", "__probe_ret_ip"});
  if (plan.kind == EventKind::rcu_free) plan.head = find({"head"});
  if (format.system == "kmemtrace") plan_objects(format, find, plan);
  if (const FormatField* name = format.field("name"); name != nullptr && name->is_dynamic && name->size == 4)
    plan.cache_name = find({"name"}, true);
}

void plan_page_event(const EventFormat& format, const FieldFinder& find, RecordPlan& plan) {
  plan.address = find({"pfn", "page"});
  plan.order = find({"order", "alloc_order"});
  plan.gfp_flags = find({"gfp_flags"});
  plan.migrate_type = find({"migratetype", "alloc_migratetype"});
  plan.percpu_refill = find({"percpu_refill"});
  plan.fallback_order = find({"fallback_order"});
  plan.fallback_migrate_type = find({"fallback_migratetype"});
  plan.change_ownership = find({"change_ownership"});
  if (format.system != "kmemtrace") return;
  plan.call_site = find({"__probe_ret_ip"});
  plan.first_page = find({"first_page"});
  plan.page_bytes = find({"page_bytes"});
  plan.end_frame = find({"end_pfn"});
  if (plan.end_frame.size != 0) plan.failed = find({"failed"});
  plan_objects(format, find, plan);
}

void plan_percpu_alloc(const FieldFinder& find, RecordPlan& plan) {
  plan.bytes_requested = find({"size"});
  plan.bytes_allocated = find({"bytes_alloc"});
  plan.gfp_flags = find({"gfp_flags"});
  plan.call_site = find({"call_site"});
  plan.address = find({"ptr"});
}

void plan_stall(const EventFormat& format, const FieldFinder& find, RecordPlan& plan) {
  plan.stall = stall_event(format.system, format.name)->stall;
  plan.order = find({"order"});
  plan.gfp_flags = find({"gfp_flags", "gfp_mask"});
  plan.node = find({"nid"});
  plan.scanned = find({"nr_scanned"});
  plan.reclaimed = find({"nr_reclaimed"});
  plan.delay_us = find({"usec_delayed"});
  if (plan.stall == StallKind::oom_victim) plan.address = find({"pid"});
}

void plan_call(const EventFormat& format, unsigned word_bytes, const FieldFinder& find, RecordPlan& plan) {
  plan.address = find({"func"});
  plan.depth = find({"depth"});
  if (format.system == "kmemtrace" && plan.depth.size == 0) plan.frame = find({"sp"});
  if (plan.frame.size != 0 && plan.kind == EventKind::call_entry) {
    plan.most_arguments = probed_arguments(format, word_bytes, plan.arguments);
    plan.least_bytes = std::max(plan.least_bytes, plan.arguments + plan.most_arguments * word_bytes);
    return;
  }
  if (const FormatField* args = format.field("args");
      args != nullptr && plan.kind == EventKind::call_entry && !args->is_dynamic && args->offset <= 0x7FFF) {
    plan.arguments = args->offset;
    plan.most_arguments = args->size != 0 ? std::min(args->size / word_bytes, kMostCallArguments) : kMostCallArguments;
  }
  for (const char* const name : {"values", "late"})
    if (const FormatField* values = format.field(name);
        values != nullptr && values->is_dynamic && !values->is_relative && values->size == 4)
      plan.values = find({name}, true);
}

void plan_stack(const EventFormat& format, unsigned word_bytes, const FieldFinder& find, RecordPlan& plan) {
  const FormatField* const caller = format.field("caller");
  if (caller == nullptr || !is_stack(format)) return;
  plan.depth = find({"size"});
  plan.is_stack = true;
  plan.is_user_stack = is_user_stack(format);
  if (plan.is_user_stack) plan.process = find({"tgid"});
  plan.callers = caller->offset;
  plan.least_bytes = std::max(plan.least_bytes, plan.callers);
  // Before Linux 3.1 there is no field `size`, and the size of the array limits the depth.
  const bool fixed = plan.depth.size == 0 && caller->size != 0;
  plan.most_depth = fixed ? std::min(caller->size / word_bytes, kMostStackDepth) : kMostStackDepth;
}

}  // namespace

EventKind event_kind(std::string_view system, std::string_view name) {
  const auto kind_among = [name](const auto& events) {
    for (const auto& [known, kind] : events)
      if (known == name) return kind;
    return EventKind::other;
  };
  if (system == "kmem") return kind_among(kKmemEvents);
  if (system == "percpu") return kind_among(kPercpuEvents);
  if (system == "vmalloc") return kind_among(kVmallocEvents);
  if (system == "ftrace") return kind_among(kCallEvents);
  if (system == "kmemtrace" && name.starts_with(kProbeEntry)) return EventKind::call_entry;
  if (system == "kmemtrace" && name == kProbeExit) return EventKind::call_exit;
  if (system == "raw_syscalls") return kind_among(kSyscallEvents);
  if (system == "syscalls")
    if (const auto call = syscall_of_event(name))
      return call->begins ? EventKind::syscall_enter : EventKind::syscall_exit;
  if (system == "kmemtrace") return kind_among(kOwnEvents);
  if (const StallEvent* const stall = stall_event(system, name)) return stall->kind;
  return EventKind::other;
}

std::string_view missing_field(const EventFormat& format, const RecordPlan& plan) {
  if (format.system != "kmem" && format.system != "percpu") return {};
  const bool is_page = plan.kind == EventKind::page_alloc || plan.kind == EventKind::page_free;
  const bool is_slab_alloc = plan.kind == EventKind::kmalloc || plan.kind == EventKind::cache_alloc;
  const bool is_slab_free = plan.kind == EventKind::kfree || plan.kind == EventKind::cache_free;
  const bool is_percpu = plan.kind == EventKind::percpu_alloc || plan.kind == EventKind::percpu_free;
  if (is_page && plan.address.size == 0) return "page or pfn";
  if (is_page && plan.order.size == 0 && plan.old_free != OldPageFree::batched) return "order";
  if ((is_slab_alloc || is_slab_free || is_percpu) && plan.address.size == 0) return "ptr";
  if (is_slab_alloc && plan.bytes_requested.size == 0) return "bytes_req";
  if (is_slab_alloc && plan.bytes_allocated.size == 0) return "bytes_alloc";
  return plan.kind == EventKind::percpu_alloc && plan.bytes_requested.size == 0 ? "size" : "";
}

RecordPlan plan_of(const EventFormat& format, EventTypeId type, unsigned word_bytes, PageIdentity& page_identity) {
  RecordPlan plan;
  plan.described = true;
  plan.type = type;
  plan.kind = event_kind(format.system, format.name);
  plan.least_bytes = 2;  // the size of common_type, which every record has
  const FieldFinder find(format, plan);
  plan.flags = find({"common_flags"});
  plan.pid = find({"common_pid"});
  switch (plan.kind) {
    case EventKind::kmalloc:
    case EventKind::cache_alloc:
    case EventKind::kfree:
    case EventKind::cache_free:
    case EventKind::bulk_free:
    case EventKind::rcu_free: plan_slab_event(format, find, plan); break;
    case EventKind::page_alloc:
      if (format.system == "kmem" && format.field("pfn") == nullptr) page_identity = PageIdentity::struct_page;
      [[fallthrough]];
    case EventKind::page_free:
    case EventKind::page_free_batched:
    case EventKind::page_alloc_zone_locked:
    case EventKind::page_pcpu_drain:
    case EventKind::page_alloc_extfrag:
      plan_page_event(format, find, plan);
      if (format.name == "mm_page_free_direct") plan.old_free = OldPageFree::direct;
      if (format.name == "mm_pagevec_free") plan.old_free = OldPageFree::batched;
      break;
    case EventKind::percpu_alloc: plan_percpu_alloc(find, plan); break;
    case EventKind::percpu_free: plan.address = find({"ptr"}); break;
    case EventKind::vmap_alloc:
      plan.address = find({"addr"});
      plan.bytes_requested = plan.bytes_allocated = find({"size"});
      plan.failed = find({"failed"});
      break;
    case EventKind::vmap_free: plan.address = find({"va_start"}); break;
    case EventKind::syscall_enter:
    case EventKind::syscall_exit:
      // Events of a single system call, such as sys_enter_openat, have no number of the call. A field `id` would be an
      // argument.
      if (format.system == "syscalls" && !syscall_of_event(format.name)->name.empty()) break;
      plan.address = find({"id"});
      if (plan.address.size == 0) plan.kind = EventKind::other;
      break;
    case EventKind::call_exit:
      plan.began = find({"calltime"});
      plan.ended = find({"rettime"});
      plan.return_value = find({"retval"});
      [[fallthrough]];
    case EventKind::call_entry: plan_call(format, word_bytes, find, plan); break;
    case EventKind::stall_begin:
    case EventKind::stall_end:
    case EventKind::stall_mark: plan_stall(format, find, plan); break;
    case EventKind::other:
      if (format.system == "kmemtrace" && format.name.starts_with(kProbeValues)) {
        plan.is_values = true;
        plan.address = find({"func"});
        plan.frame = find({"sp"});
      }
      plan_stack(format, word_bytes, find, plan);
      break;
  }
  return plan;
}

}  // namespace kmt
