// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/ring_counters.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "capture/bpf/watch/event_counters.hpp"
#include "capture/counting/ring_instance.hpp"
#include "capture/counting/task_process.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "trace/page_block.hpp"
#include "trace/ring_page.hpp"

namespace kmt {

namespace {

constexpr std::int8_t kMovable = 1;  // MIGRATE_MOVABLE in include/linux/mmzone.h

// The events that this kernel has, and those that it lacks.
struct FoundEvents {
  std::vector<EventName> present;
  std::vector<EventName> missing;
};

FoundEvents find_events(const std::string& tracefs, const std::vector<EventName>& wanted) {
  const std::vector<EventName> available = available_events(tracefs);
  FoundEvents found;
  for (const EventName& event : wanted)
    (std::ranges::find(available, event) != available.end() ? found.present : found.missing).push_back(event);
  if (found.present.empty()) throw Error("This kernel has no memory events", ExitCode::unsupported);
  return found;
}

// Decodes the pages of a ring buffer into events.
class RingEvents {
 public:
  RingEvents(const std::string& tracefs, const std::vector<EventName>& events, const BpfSelection& selection)
      : ring_(tracefs, events, selection.processes, selection.cgroup) {
    const KernelDescription& kernel = ring_.kernel();
    info_.machine.word_bits = 8 * sizeof(long);
    info_.machine.page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    layout_ = {kHostOrder, long_bytes_of_header_page(kernel.header_page), kernel.sub_buffer_bytes};
    decoder_.emplace(parse_event_formats(kernel.formats, info_.findings), kHostOrder, info_);
  }

  const RingInstance& ring() const { return ring_; }
  const TraceInfo& info() const { return info_; }

  template <typename Use>
  void drain(Use use) {
    ring_.drain([&](unsigned cpu, Bytes page) {
      batch_.clear();
      walk_page(page, layout_, [&](std::uint64_t ticks, Bytes record, std::uint64_t) {
        decoder_->decode(record, ticks, cpu, 0, batch_);
      });
      for (const Event& event : batch_) use(event);
    });
  }

  // Returns the bytes of a block for events of pages with an order.
  std::uint64_t page_bytes(const Event& event) const { return block_bytes(info_, event.order); }

 private:
  RingInstance ring_;
  TraceInfo info_;
  PageLayout layout_;
  std::optional<RecordDecoder> decoder_;
  EventBatch batch_;
};

bool has_failed(const Event& event) {
  if (event.kind == EventKind::page_alloc) return event.address == kNoPage;
  return is_allocation(event.kind) && event.address == 0;
}

bool has_order(EventKind kind) {
  return kind == EventKind::page_alloc || kind == EventKind::page_free || kind == EventKind::page_alloc_zone_locked ||
         kind == EventKind::page_pcpu_drain;
}

class RingEventCounters : public EventCounting {
 public:
  RingEventCounters(const std::string& tracefs, const BpfSelection& selection)
      : found_(find_events(tracefs, counted_events())), events_(tracefs, found_.present, selection) {
    for (const EventType& type : events_.info().tables.event_types) {
      EventCount& count = counts_.emplace_back();
      count.event = {type.system, type.name};
      const bool is_failure = type.name == "percpu_alloc_percpu_fail";
      count.has_bytes = !is_failure && (is_allocation(type.kind) || has_order(type.kind));
      count.may_fail = is_failure || ((is_allocation(type.kind) || type.kind == EventKind::page_alloc) &&
                                      type.kind != EventKind::percpu_alloc);
    }
  }

  void drain() override {
    events_.drain([this](const Event& event) { add(event); });
  }
  std::vector<EventCount> read() override {
    drain();
    return counts_;
  }
  std::uint64_t lost() const override { return events_.ring().lost(); }
  const std::vector<EventName>& missing() const override { return found_.missing; }
  std::optional<std::uint64_t> kernel_memory() const override { return events_.ring().buffer_bytes(); }

 private:
  void add(const Event& event) {
    EventCount& count = counts_[event.type.value];
    ++count.events;
    if (has_failed(event)) {
      ++count.failed;
    } else if (has_order(event.kind)) {
      count.requested += events_.page_bytes(event);
      count.allocated += events_.page_bytes(event);
    } else if (count.has_bytes) {
      count.requested += event.bytes_requested;
      count.allocated += event.bytes_allocated != 0 ? event.bytes_allocated : event.bytes_requested;
    }
  }

  FoundEvents found_;
  RingEvents events_;
  std::vector<EventCount> counts_;  // indexed by EventTypeId
};

class RingSiteCounters : public SiteCounting {
 public:
  RingSiteCounters(const std::string& tracefs, const BpfSelection& selection, bool only_kernel_pages)
      : tracefs_(tracefs),
        only_kernel_pages_(only_kernel_pages),
        events_(tracefs,
                find_events(tracefs, {{"kmem", "kmalloc"},
                                      {"kmem", "kmalloc_node"},
                                      {"kmem", "kmem_cache_alloc"},
                                      {"kmem", "kmem_cache_alloc_node"},
                                      {"kmem", "mm_page_alloc"}})
                    .present,
                selection) {}

  void drain() override {
    events_.drain([this](const Event& event) { add(event); });
  }
  std::vector<HeapSite> take_sites() override;
  HeapLosses losses() const override {
    HeapLosses losses;
    losses.missed = events_.ring().lost();
    return losses;
  }
  std::optional<std::uint64_t> kernel_memory() const override { return events_.ring().buffer_bytes(); }

 private:
  // Call site, task, bytes of an object or block, ID of the cache's name, context, kind of the event.
  using Key = std::tuple<std::uint32_t, std::int32_t, std::uint64_t, std::uint32_t, AllocationContext, EventKind>;

  void add(const Event& event);
  std::string saved_name(pid_t task);

  std::string tracefs_;
  bool only_kernel_pages_;
  RingEvents events_;
  TaskProcesses processes_;
  std::map<Key, HeapSite> sites_;
  std::map<pid_t, std::string> saved_names_;
};

void RingSiteCounters::add(const Event& event) {
  const bool pages = event.kind == EventKind::page_alloc;
  if (!pages && !is_slab_alloc(event.kind)) return;
  if (pages && only_kernel_pages_ && event.migrate_type == kMovable) return;
  const std::uint8_t level = interrupt_level(event);
  const AllocationContext context = level == 0   ? AllocationContext::task
                                    : level == 1 ? AllocationContext::softirq
                                                 : AllocationContext::hardirq;
  const std::uint64_t bytes = pages ? events_.page_bytes(event) : event.bytes_allocated;
  HeapSite& site = sites_[{event.call_site.value, context == AllocationContext::task ? event.tid : 0, bytes,
                           event.cache.value, context, event.kind}];
  ++site.events;
  if (has_failed(event)) {
    ++site.failed;
    return;
  }
  site.requested += pages ? bytes : event.bytes_requested;
  site.allocated += bytes;
}

// Returns the kernel's saved name of a task that has ended; empty if there is none.
std::string RingSiteCounters::saved_name(pid_t task) {
  if (saved_names_.empty()) {
    const std::string text = try_read_file(tracefs_ + "/saved_cmdlines").value_or("");
    for (std::string_view line : split(text, '\n'))
      if (const auto id = take_number<pid_t>(line)) saved_names_[*id] = trim(line);
  }
  const auto found = saved_names_.find(task);
  return found == saved_names_.end() ? std::string() : found->second;
}

std::vector<HeapSite> RingSiteCounters::take_sites() {
  drain();
  processes_.begin_interval();
  saved_names_.clear();
  const TraceTables& tables = events_.info().tables;
  std::vector<HeapSite> taken;
  for (auto& [key, site] : std::exchange(sites_, {})) {
    const auto& [call_site, task, bytes, cache, context, kind] = key;
    HeapSite& full = taken.emplace_back(site);
    full.call_site = tables.call_sites[call_site];
    full.pages = kind == EventKind::page_alloc;
    full.bytes_each = bytes;
    full.context = context;
    if (kind == EventKind::cache_alloc)
      full.cache = tables.cache_names[cache].empty() ? unnamed_cache(bytes) : tables.cache_names[cache];
    if (context != AllocationContext::task) continue;
    TaskProcess process = processes_.of(task, "");
    if (process.comm.empty()) process.comm = saved_name(task);
    full.process = process.id;
    full.comm = process.comm;
  }
  return taken;
}

}  // namespace

std::unique_ptr<EventCounting> count_by_ring(const std::string& tracefs, const BpfSelection& selection) {
  return std::make_unique<RingEventCounters>(tracefs, selection);
}

std::unique_ptr<SiteCounting> count_sites_by_ring(const std::string& tracefs, const BpfSelection& selection,
                                                  bool only_kernel_pages) {
  return std::make_unique<RingSiteCounters>(tracefs, selection, only_kernel_pages);
}

}  // namespace kmt
