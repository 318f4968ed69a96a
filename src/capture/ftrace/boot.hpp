// SPDX-License-Identifier: GPL-2.0-or-later
// Finds, reads and releases the ring buffer of a boot that was traced because of kernel parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/session/recording.hpp"

namespace kmt {

constexpr const char* kBootInstance = "kmemtrace_boot";

// The tracing parameters of this boot ("trace_event=" and related ones in
// Documentation/admin-guide/kernel-parameters.txt). Events are patterns, as in the parameters.
struct BootParameters {
  std::vector<std::string> events;           // events of the parameter trace_event=, recorded in the top-level buffer
  std::vector<std::string> instance_events;  // events of the parameter trace_instance=kmemtrace_boot,…
  std::vector<std::string> instances;        // value of each parameter trace_instance=
  std::vector<std::string> options;          // options of the parameter trace_options=
  std::uint64_t buffer_bytes = 0;            // bytes for each CPU of the parameter trace_buf_size=; 0 if not given
};

// Parses /proc/cmdline.
BootParameters parse_boot_parameters(std::string_view cmdline);

// True if a pattern matches the event according to the kernel's rules at boot. A pattern is "system:name", or only the
// name of a system or an event. A * can only replace a whole part of "system:name" (ftrace_set_clr_event in
// kernel/trace/trace_events.c, Linux 6.12).
bool names_event(const std::vector<std::string>& patterns, const EventName& event);

// Returns the trace clock of an instance. Throws Error.
std::string current_clock(const std::string& buffer);

struct BootBuffer {
  std::string path;  // path of the instance kmemtrace_boot, or of tracefs for the top-level buffer
  bool top_level = false;
  std::string clock;
  std::vector<EventName> events;  // events that the buffer may contain
  // Options of the top-level buffer that the parameters changed, with their default values.
  std::vector<std::pair<std::string, std::string>> to_restore;
};

// Returns nothing if this boot was not traced or its buffer was released. Throws Error if someone else uses the
// top-level buffer.
std::optional<BootBuffer> find_boot_buffer(const std::string& tracefs, const BootParameters& parameters);

// Stops tracing and reads the whole buffer. Calls only the hooks `described` and `sampled`. In the outcome, `seconds`
// is the time since boot.
RecordOutcome collect_boot_buffer(const std::string& tracefs, const BootBuffer& buffer,
                                  const std::string& scratch_directory, const RecordHooks& hooks);

// Frees the buffer's memory. Removes the instance, or resets the top-level buffer to its state after an untraced boot.
// False if another process keeps the instance open.
bool release_boot_buffer(const std::string& tracefs, const BootBuffer& buffer);

}  // namespace kmt
