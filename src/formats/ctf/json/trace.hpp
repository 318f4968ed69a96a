// SPDX-License-Identifier: GPL-2.0-or-later
// Provides a CTF 2 trace as a source component of libbabeltrace2, so that all later steps are the same as for CTF 1.8.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "formats/ctf/graph.hpp"

namespace kmt::ctf {

// True if the folder's metadata has the format of CTF 2.
bool is_json_trace(const std::string& folder);

class JsonTrace {
 public:
  // Throws Error if the metadata cannot be used.
  explicit JsonTrace(const std::vector<std::string>& folders);
  ~JsonTrace();
  JsonTrace(const JsonTrace&) = delete;
  JsonTrace& operator=(const JsonTrace&) = delete;

  std::optional<TimeRange> time_range() const;
  // Adds the trace to the graph as a source, with a port for each stream. This object must outlive the graph.
  const bt_component_source* add_to(bt_graph* graph, const std::string& name);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt::ctf
