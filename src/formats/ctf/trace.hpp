// SPDX-License-Identifier: GPL-2.0-or-later
// An opened CTF trace: the machine's description, and the events of each CPU.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ctf/cpu_events.hpp"
#include "formats/ctf/folders.hpp"
#include "formats/ctf/salvage.hpp"
#include "formats/trace_description.hpp"

namespace kmt::ctf {

struct Trace {
  // Throws Error if there is no readable trace below the path.
  Trace(const std::string& path, Findings& findings);

  // Its start and end, from its first folders.
  std::optional<TimeRange> time_range() const;

  std::string format;            // "CTF of lttng-modules 2.10.0"
  TraceDescription description;  // with the formats of all its events; times are in nanoseconds
  bool is_described = false;     // by kmemtrace, in a file beside the trace, with the names of tasks

 private:
  void read_description(Findings& findings);
  void compare_streams(std::string_view streams, Findings& findings) const;
  void describe_by_environment(const bt_stream* stream, Findings& findings);
  void open_streams(Findings& findings);

  Folders folders_;
  std::unique_ptr<Salvage> salvage_;  // of a damaged trace; destroyed after the graph
  std::unique_ptr<Graph> graph_;

 public:  // destroyed before the graph
  std::unique_ptr<RecordBuilder> records;
  std::map<unsigned, CpuEvents> cpus;  // by number
};

}  // namespace kmt::ctf
