// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace record --boot: the kernel parameters that trace a boot, and the collection of its trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/ftrace/boot.hpp"
#include "cli/record/request.hpp"

namespace kmt {

struct BootPlan {
  std::string release;  // of the kernel
  std::vector<EventName> events;
  std::vector<MissingEvent> missing;
  std::uint64_t buffer_bytes = 0;  // per CPU
  unsigned cpus = 1;
  std::string clock;
  bool stacks = false;
  bool has_trace_instance = false;  // the kernel knows trace_instance=
  bool has_boot_tracing = false;    // and bootconfig's ftrace keys (CONFIG_BOOTTIME_TRACING)
};

// Returns the parameters to boot with: comments and the line itself.
std::string describe_boot_plan(const BootPlan& plan);

// Returns the buffer to collect. Empty if this boot's memory was not traced, or has been collected; then the parameters
// to boot with are on stdout. Throws Error, also for options that conflict with --boot.
std::optional<BootBuffer> boot_buffer_or_plan(const RecordOptions& options);

// Call it after a collection. Reports its actions.
void give_boot_buffer_back(const BootBuffer& buffer);

}  // namespace kmt
