// SPDX-License-Identifier: GPL-2.0-or-later
// One machine's trace into the tables of a fleet (sql/, docs/formats/fleet.md): sums of each second, and the events
// themselves where they are wanted. Reports see a trace when all of it is there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fleet/clickhouse.hpp"
#include "fleet/load.hpp"
#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/code/wrappers.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct FleetTrace {
  std::string id;           // TraceId::text()
  std::string host;         // not empty
  std::uint32_t began = 0;  // when recording did, in seconds since 1970
  bool with_events = false;
};

class FleetExport : public EventSink {
 public:
  // All that is given must outlive this. Throws Error, as add() and end() do.
  FleetExport(const ServerAddress& server, const TraceInfo& info, const SymbolNames& symbols, CallerFinder& callers,
              const FleetTrace& trace);
  ~FleetExport() override;

  void add(const StreamedEvent& event) override;
  void end(const StreamEnd& end) override;  // of an incomplete one nothing is made visible

  const LoadCounts& sums() const;
  const LoadCounts& events() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether all of the trace is there, with its events where they are wanted.
bool is_loaded(const ServerAddress& server, const FleetTrace& trace);

// The number of other traces of its host that overlap with this one in time: they may be of the same events.
std::uint64_t traces_of_its_time(const ServerAddress& server, const FleetTrace& trace);

}  // namespace kmt
