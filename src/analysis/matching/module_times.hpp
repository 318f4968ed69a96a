// SPDX-License-Identifier: GPL-2.0-or-later
// Distinguishes modules that were loaded at the same address one after the other (ModuleLoads). Adjusts the addresses
// in call sites and stacks accordingly.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/code/module_loads.hpp"
#include "trace/source.hpp"
#include "trace/stack_ids.hpp"

namespace kmt {

// Wraps another source. Replaces module addresses in its events by addresses that depend on the time of the event.
class ModuleTimes : public Source {
 public:
  // `source` must outlive this object. New call sites and stacks are added to its tables.
  explicit ModuleTimes(Source& source) : source_(source), stacks_(source.info().tables.stacks) {}

  // Sets all module events of the trace. Call this before the first event.
  void set_events(const ModuleEvents& events);

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }

 private:
  enum class Covered : std::uint8_t { not_asked, no, yes };

  void place(Event& event);
  CallSiteId site_of(CallSiteId site, std::uint64_t time_ns);
  StackId stack_of(StackId stack, std::uint64_t time_ns);

  Source& source_;
  std::optional<ModuleLoads> loads_;
  std::vector<Covered> sites_;         // index: CallSiteId
  std::vector<Covered> known_stacks_;  // index: StackId
  FlatMap<std::uint32_t> sites_at_;    // key: CallSiteId and epoch (a time in which the loaded modules do not change)
  FlatMap<std::uint32_t> stacks_at_;   // key: StackId and epoch
  FlatMap<std::uint32_t> site_ids_;    // key: address
  StackIds stacks_;
  std::vector<std::uint64_t> frames_;
};

}  // namespace kmt
