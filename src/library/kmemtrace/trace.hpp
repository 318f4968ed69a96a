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

// New kinds may come with new versions.
enum class EventKind : std::uint8_t {
  other,
  kmalloc,
  kfree,
  cache_alloc,
  cache_free,
  page_alloc,
  page_free,
  page_free_batched,  // accompanies a page_free, which counts
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
};

enum class Context : std::uint8_t { task, softirq, hardirq, nmi };

// Fields that a kind does not have are zero. Sizes are bytes. An allocation failed if its address is 0, or for pages
// kNoPage.
constexpr std::uint64_t kNoPage = UINT64_MAX;

struct Event {
  std::uint64_t time_ns = 0;             // on the trace's clock
  std::uint64_t address = 0;             // of what is allocated or freed; of pages the number of the first page frame
  std::uint64_t bytes_requested = 0;     // by the caller
  std::uint64_t bytes_allocated = 0;     // given
  std::uint64_t call_site = 0;           // the address of the code that asked; 0: the kernel does not say
  std::string_view name;                 // "kmalloc"; as all that is borrowed here until the next event
  std::string_view cache;                // the slab cache, where the event names it; empty otherwise
  const std::uint64_t* stack = nullptr;  // return addresses in the kernel, innermost first
  std::size_t stack_size = 0;
  std::uint32_t gfp_flags = 0;
  std::int32_t tid = 0;  // the task that ran, or that was interrupted
  std::uint32_t cpu = 0;
  std::int16_t node = -1;         // the NUMA node asked for; -1: none
  std::int8_t migrate_type = -1;  // of pages; -1: unknown
  std::uint8_t order = 0;         // of pages: 2^order of them
  EventKind kind = EventKind::other;
  Context context = Context::task;
};

// Facts about the whole trace.
struct Machine {
  std::string format;  // "trace.dat version 7"
  std::string kernel;  // "6.1.0-47-amd64"; empty where the trace does not say, as all texts here
  std::string arch;    // as `uname -m` says it
  std::string clock;
  bool little_endian = true;
  unsigned word_bits = 64;
  unsigned cpus = 0;
  std::uint64_t page_size = 0;  // bytes
  bool clock_in_ns = true;      // false: times are ticks of something else
};

// A problem of a trace, or a reason why its numbers are uncertain. docs/imperfections.md lists the kinds.
struct Finding {
  std::string id;        // "lost_events"
  std::string severity;  // "info", "uncertain", "loss" or "error"
  std::string sentence;
  std::uint64_t count = 0;
};

class KMEMTRACE_API Trace {
 public:
  // `path`: a file or a folder; what it is, is found out by what is in it. Throws Error.
  explicit Trace(const std::string& path);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  Machine machine() const;
  // The next event by time; false at the end. Damage is a finding, not an error.
  bool next(Event& event);
  // Complete after the last event.
  std::uint64_t lost_events() const;
  std::vector<Finding> findings() const;

  // "__d_alloc+0x29", "ext4_find_extent+0x3c [ext4]"; the address in hex where no symbol is known.
  std::string symbol(std::uint64_t address) const;
  // Returns the name of a task at a time, as far as the trace has been read.
  std::string_view task_name(std::int32_t tid, std::uint64_t time_ns) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmemtrace
