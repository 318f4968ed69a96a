// SPDX-License-Identifier: GPL-2.0-or-later
// An open CTF trace: the description of the machine, and the events of each CPU.
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
  // Throws Error if the path contains no readable trace.
  Trace(const std::string& path, Findings& findings);

  // Returns the start and end of the first trace.
  std::optional<TimeRange> time_range() const;

  std::string format;            // for example "CTF of lttng-modules 2.10.0"
  TraceDescription description;  // has the formats of all events; times are in nanoseconds
  bool is_described = false;     // true if description.kmt was read, which has the names of tasks
  bool is_lttng = false;

 private:
  void read_description(Findings& findings);
  void compare_streams(std::string_view streams, Findings& findings) const;
  void describe_by_environment(const bt_stream* stream, Findings& findings);
  void open_streams(const std::string& path, Findings& findings);

  Folders folders_;
  // Set only for a damaged trace. Must be destroyed after graph_, because the graph reads its folders.
  std::unique_ptr<Salvage> salvage_;
  std::unique_ptr<Graph> graph_;

 public:  // destroyed before the graph
  std::unique_ptr<RecordBuilder> records;
  std::map<unsigned, CpuEvents> cpus;  // by CPU number
};

}  // namespace kmt::ctf
