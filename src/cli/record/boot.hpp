// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace record --boot: the kernel parameters that trace a boot, and collecting what such a boot has left.
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
  std::uint64_t buffer_bytes = 0;  // a CPU
  unsigned cpus = 1;
  std::string clock;
  bool stacks = false;
  bool has_trace_instance = false;  // the kernel knows trace_instance=
  bool has_boot_tracing = false;    // and bootconfig's ftrace keys (CONFIG_BOOTTIME_TRACING)
};

// What to boot with, as comments and the line of parameters itself.
std::string describe_boot_plan(const BootPlan& plan);

// The buffer to collect. None: this boot's memory was not traced, or has been collected; what to boot with is then on
// stdout. Throws Error, also for options that make no sense with --boot.
std::optional<BootBuffer> boot_buffer_or_plan(const RecordOptions& options);

// After a collection. Says what it has done.
void give_boot_buffer_back(const BootBuffer& buffer);

}  // namespace kmt
