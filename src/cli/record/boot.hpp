// SPDX-License-Identifier: GPL-2.0-or-later
// Implements kmemtrace record --boot. It prints the kernel parameters that trace a boot. After the traced boot, it
// collects the trace.
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
  bool has_trace_instance = false;  // true: the kernel supports the parameter trace_instance=
  bool has_boot_tracing = false;    // true: the kernel supports ftrace keys in a bootconfig (CONFIG_BOOTTIME_TRACING)
};

// Returns a text with the kernel parameters and with comments that explain them.
std::string describe_boot_plan(const BootPlan& plan);

// Throws Error if options conflict with --boot.
void check_boot_options(const RecordOptions& options);

// Returns the buffer to collect. If this boot was not traced, or if the trace was already collected, prints kernel
// parameters on stdout and returns nothing. Throws Error, for example if other options conflict with --boot.
std::optional<BootBuffer> boot_buffer_or_plan(const RecordOptions& options);

// Frees the buffer and prints a message. Call it after the trace was collected.
void give_boot_buffer_back(const BootBuffer& buffer);

}  // namespace kmt
