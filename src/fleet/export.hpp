// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a trace of one machine to the tables of a fleet (sql/, docs/formats/fleet.md). Writes the sums of each second
// and, if requested, all events. Reports include a trace only after all of it has been stored.
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
  std::uint32_t began = 0;  // start of the recording, in seconds since 1970
  bool with_events = false;
};

class FleetExport : public EventSink {
 public:
  // All arguments must outlive this object. The constructor, add() and end() throw Error.
  FleetExport(const ServerAddress& server, const TraceInfo& info, const SymbolNames& symbols, CallerFinder& callers,
              const FleetTrace& trace);
  ~FleetExport() override;

  void add(const StreamedEvent& event) override;
  void end(const StreamEnd& end) override;  // if the trace was not read completely, reports do not include it

  const LoadCounts& sums() const;
  const LoadCounts& events() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns true if the server has the whole trace, including its events if `trace.with_events` is set.
bool is_loaded(const ServerAddress& server, const FleetTrace& trace);

// Returns the number of other traces of the same host whose recorded times overlap with this one. They may contain the
// same events, which reports would then count several times.
std::uint64_t traces_of_its_time(const ServerAddress& server, const FleetTrace& trace);

}  // namespace kmt
