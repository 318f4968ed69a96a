// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace record --boot: prints the kernel parameters that trace a boot, and collects the trace after the boot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/ftrace/boot.hpp"
#include "cli/record/request.hpp"

namespace kmt {

struct BootPlan {
  std::string release;  // release of the kernel
  std::vector<EventName> events;
  std::vector<MissingEvent> missing;
  std::uint64_t buffer_bytes = 0;  // per CPU
  unsigned cpus = 1;
  std::string clock;
  bool stacks = false;
  bool has_trace_instance = false;  // the kernel supports trace_instance=
  bool has_boot_tracing = false;    // the kernel supports ftrace keys in a bootconfig (CONFIG_BOOTTIME_TRACING)
};

// Returns the parameters to boot with, as a text with comments and the parameter line.
std::string describe_boot_plan(const BootPlan& plan);

// Returns the buffer to collect. If this boot was not traced, or its trace was already collected, prints the parameters
// to boot with on stdout and returns nothing. Throws Error, also if other options conflict with --boot.
std::optional<BootBuffer> boot_buffer_or_plan(const RecordOptions& options);

// Call it after the trace was collected. Frees the buffer and prints a message.
void give_boot_buffer_back(const BootBuffer& buffer);

}  // namespace kmt
