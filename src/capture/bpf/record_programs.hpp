// SPDX-License-Identifier: GPL-2.0-or-later
// The BPF programs that write events into rings. Only the programs that a recording needs are loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "capture/bpf/context_constants.hpp"
#include "capture/bpf/cpu_rings.hpp"
#include "capture/bpf/record_layout.hpp"
#include "capture/bpf/selection.hpp"

namespace kmt {

struct ProgramsRequest {
  std::vector<EventName> events;
  BpfSelection selection;
  bool stacks = false;  // true: record kernel stacks
  bool user_stacks = false;
  // True: if an event interrupts the program that records such events, a second program records it.
  bool nested = false;
  bool without_own_events = false;      // omit events of this process
  unsigned cpus = 1;                    // number of CPUs, which are numbered from 0 to cpus - 1
  std::uint64_t ring_bytes_of_cpu = 0;  // approximate total size of the rings of one CPU, in bytes
};

// Sizes of rings. The rings of all CPUs form one array.
struct RingSizes {
  std::uint64_t bytes = 0;  // size of one ring, a power of two
  // Distance in bytes between the starts of two rings; a ring is followed by room for its largest entry.
  std::uint64_t stride = 0;
};
// Returns the sizes of the rings. `rings` is the number of rings of one CPU. `largest` is the size of the largest entry
// without its head.
RingSizes ring_sizes(const ProgramsRequest& request, unsigned rings, std::uint64_t largest);

// Copies the constants of rings.bpf.h and selection.bpf.h into a skeleton's read-only data.
template <typename Constants>
void fill_ring_constants(Constants& constants, const ProgramsRequest& request, unsigned rings, const RingSizes& sizes) {
  constants.rings_of_cpu = rings;
  constants.ring_bytes = sizes.bytes;
  constants.ring_mask = sizes.bytes - 8;
  constants.own_process = request.without_own_events ? static_cast<std::uint32_t>(::getpid()) : 0;
  constants.only_processes = !request.selection.processes.empty();
  constants.only_cgroup = !request.selection.cgroup.empty();
}

// State that all programs share: constants for interrupt levels (context.bpf.h), and descriptors of the selection's
// maps (selection.bpf.h).
struct SharedByPrograms {
  ContextConstants context;
  int processes;
  int cgroup;
};

class RecordPrograms {
 public:
  // Loads the programs. attach() starts recording, but memory events are recorded only from begin() on. Throws Error.
  RecordPrograms(const std::string& tracefs, const ProgramsRequest& request);
  ~RecordPrograms();

  void attach();
  void begin();
  void end();
  void detach();  // returns when no program is running any more

  const EventLayout& layout_of(unsigned event) const;  // `event` is kmt_entry.event
  const KernelTraits& kernel() const;
  std::string description_of(const EventName& event) const;  // events/SYSTEM/NAME/format of a recorded event
  CpuRings rings_of(unsigned cpu) const;                     // valid as long as this object exists
  const kmt_cache* caches_of(unsigned cpu, const kmt_entry& entry) const;
  SharedByPrograms shared() const;  // valid as long as this object exists
  std::uint64_t missed() const;     // number of events since begin() that occurred while their own program was running
  std::uint64_t not_followed() const;
  std::uint64_t ring_bytes() const;  // total size of all rings

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
