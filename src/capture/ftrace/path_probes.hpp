// SPDX-License-Identifier: GPL-2.0-or-later
// Records frees and allocations on kernel paths without a tracepoint (trace/code/untraced_paths), with kprobe events
// that only the recording's own instance enables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/session/recording.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

class PathProbes {
 public:
  // Creates the probes, which are removed with the instance. Adds the events' formats to the description, and a note of
  // functions without a probe. Without kprobe events, there are no probes. If `probed_types` returns the kernel's
  // types, the events include the name of the cache. Probes of bulk allocations need these types. `records_pages`
  // states whether the trace has the other events of page allocations and frees.
  PathProbes(const std::string& tracefs, const TracefsInstance& instance,
             const std::function<std::optional<ProbedTypes>()>& probed_types, bool records_pages,
             KernelDescription& kernel);

  void enable() const;  // starts recording
  // Returns how many calls of each function the kernel missed since the probes were created, in all tasks, in the
  // format of the note `unprobed_functions`. Empty if none was missed. A call is missed if it happens in an interrupt
  // while another probe is running.
  std::string missed_text() const;

 private:
  const std::string tracefs_;
  const TracefsInstance& instance_;
  std::string group_;
  std::vector<std::string_view> probed_;  // functions, in the order in which their probes were created
};

}  // namespace kmt
