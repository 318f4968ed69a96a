// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the events of a trace, one at a time, in any format: trace.dat, .kmt, perf.data, CTF, relay files or text.
//
//   kmemtrace::Trace trace("trace.kmt");
//   for (kmemtrace::Event event; trace.next(event);)
//     if (event.kind == kmemtrace::EventKind::kmalloc) total += event.bytes_allocated;
//
// Only one thread at a time may use an object of this library. Different threads may use different objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kmemtrace/error.hpp>

namespace kmemtrace {

// The kind of an event. Later versions of the library may add kinds.
enum class EventKind : std::uint8_t {
  other,
  kmalloc,
  kfree,
  cache_alloc,
  cache_free,
  page_alloc,
  page_free,
  page_free_batched,  // the event page_free reports the same free as this event; count only page_free
  page_alloc_zone_locked,
  page_pcpu_drain,
  page_alloc_extfrag,
  percpu_alloc,
  percpu_free,
  vmap_alloc,
  vmap_free,
  call_entry,
  call_exit,
  syscall_enter,
  syscall_exit,
  bulk_free,    // one object of an array that the kernel frees in one call; such calls have no tracepoint
  rcu_free,     // an object is passed to kfree_rcu(); the kernel frees it later, perhaps with another event
  stall_begin,  // a task starts to wait for memory, or kswapd or kcompactd starts to work; see the name of the event
  stall_end,
  stall_mark,  // a single event of a stall, such as mm_vmscan_throttled
};

enum class Context : std::uint8_t { task, softirq, hardirq, nmi };

// Event::address of a failed allocation of pages; other failed allocations have the address 0.
constexpr std::uint64_t kNoPage = UINT64_MAX;

// One event. Fields that do not exist for its kind are zero. Sizes are in bytes.
struct Event {
  std::uint64_t time_ns = 0;  // time on the clock of the trace
  // Start of the allocated or freed memory; for pages, the first page frame number.
  std::uint64_t address = 0;
  std::uint64_t bytes_requested = 0;  // bytes requested by the caller
  std::uint64_t bytes_allocated = 0;  // bytes allocated by the kernel
  // Address of the code that requested or freed the memory; 0 if the event does not contain it.
  std::uint64_t call_site = 0;
  // Name of the event, such as "kmalloc"; valid until the next event, like all pointers and views in this structure.
  std::string_view name;
  std::string_view cache;                // name of the slab cache; empty if the event does not contain it
  const std::uint64_t* stack = nullptr;  // return addresses in the kernel, innermost first
  std::size_t stack_size = 0;
  std::uint32_t gfp_flags = 0;
  std::int32_t tid = 0;  // thread ID of the running or interrupted task
  std::uint32_t cpu = 0;
  std::int16_t node = -1;         // requested NUMA node; -1: no node was requested
  std::int8_t migrate_type = -1;  // migrate type of pages; -1: unknown
  std::uint8_t order = 0;         // an allocation of pages has 2^order pages
  EventKind kind = EventKind::other;
  Context context = Context::task;
};

// Facts about the trace and the traced machine.
struct Machine {
  std::string format;  // format of the file: "trace.dat version 7"
  // Kernel release: "6.1.0-47-amd64"; this and other texts are empty if the trace does not contain them.
  std::string kernel;
  std::string arch;  // as printed by `uname -m`
  std::string clock;
  bool little_endian = true;
  unsigned word_bits = 64;
  unsigned cpus = 0;
  std::uint64_t page_size = 0;  // in bytes
  bool clock_in_ns = true;      // true if times are in nanoseconds; otherwise in ticks of another length
};

// A problem in a trace, or a reason why its numbers are uncertain. docs/imperfections.md lists the kinds.
struct Finding {
  std::string id;        // ID such as "lost_events"
  std::string severity;  // "info", "uncertain", "loss" or "error"
  std::string sentence;
  std::uint64_t count = 0;
};

class KMEMTRACE_API Trace {
 public:
  // `path` is a file or a folder. Its content determines the format. Throws Error.
  explicit Trace(const std::string& path);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  Machine machine() const;
  // Reads the next event, in order of time. Returns false at the end. Damage in the trace causes no Error: findings()
  // reports it.
  bool next(Event& event);
  // Return the lost events and the problems found so far. Both are complete after the last event.
  std::uint64_t lost_events() const;
  std::vector<Finding> findings() const;

  // Returns a name such as "__d_alloc+0x29" or "ext4_find_extent+0x3c [ext4]", or the address in hex if no symbol is
  // known.
  std::string symbol(std::uint64_t address) const;
  // Returns the name that a task had at that time. Considers only the part of the trace that was read so far.
  std::string_view task_name(std::int32_t tid, std::uint64_t time_ns) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmemtrace
