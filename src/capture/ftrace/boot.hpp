// SPDX-License-Identifier: GPL-2.0-or-later
// The ring buffer of a boot traced by kernel parameters: finds, reads and releases it.
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

// This boot's parameters for tracing (Documentation/admin-guide/kernel-parameters.txt, "trace_event=" and its
// neighbours). Events are the parameters' patterns.
struct BootParameters {
  std::vector<std::string> events;           // trace_event=: into the top-level buffer
  std::vector<std::string> instance_events;  // trace_instance=kmemtrace_boot,…
  std::vector<std::string> options;          // trace_options=
  std::uint64_t buffer_bytes = 0;            // trace_buf_size=, per CPU; 0: not given
};

// Parses /proc/cmdline.
BootParameters parse_boot_parameters(std::string_view cmdline);

// True if a pattern matches the event, by the kernel's rules at boot: "system:name", where * alone matches all, or the
// name of a system or of an event (kernel/trace/trace_events.c, Linux 6.12, ftrace_set_clr_event).
bool names_event(const std::vector<std::string>& patterns, const EventName& event);

struct BootBuffer {
  std::string path;  // the instance kmemtrace_boot, or tracefs itself: the top-level buffer
  bool top_level = false;
  std::string clock;
  std::vector<EventName> events;  // possible contents
  // Options that the parameters changed for all tracing, and their values without that.
  std::vector<std::pair<std::string, std::string>> to_restore;
};

// Empty if this boot was not traced, or its buffer was released. Throws Error if another user has the top-level buffer.
std::optional<BootBuffer> find_boot_buffer(const std::string& tracefs, const BootParameters& parameters);

// Stops its tracing and reads all of it. Calls only the hooks `described` and `sampled`. The outcome's seconds count
// from boot.
RecordOutcome collect_boot_buffer(const std::string& tracefs, const BootBuffer& buffer,
                                  const std::string& scratch_directory, const RecordHooks& hooks);

// Frees its memory: removes the instance, or leaves the top-level buffer as after an untraced boot. False if another
// process keeps the instance open.
bool release_boot_buffer(const std::string& tracefs, const BootBuffer& buffer);

}  // namespace kmt
