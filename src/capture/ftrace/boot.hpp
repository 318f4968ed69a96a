// SPDX-License-Identifier: GPL-2.0-or-later
// The ring buffer of a boot that was traced by kernel parameters: recognising it, reading it, giving it back.
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

// What this boot's parameters say of tracing (Documentation/admin-guide/kernel-parameters.txt, "trace_event=" and
// those near it). Events are patterns as the parameters have them.
struct BootParameters {
  std::vector<std::string> events;           // trace_event=: into the top-level buffer
  std::vector<std::string> instance_events;  // trace_instance=kmemtrace_boot,…
  std::vector<std::string> options;          // trace_options=
  std::uint64_t buffer_bytes = 0;            // trace_buf_size=, a CPU; 0: not given
};

// The text of /proc/cmdline.
BootParameters parse_boot_parameters(std::string_view cmdline);

// Whether one of the patterns means the event, as the kernel matches them at boot: "system:name" where * alone stands
// for all, or the name of a system or of an event (kernel/trace/trace_events.c, Linux 6.12, ftrace_set_clr_event).
bool names_event(const std::vector<std::string>& patterns, const EventName& event);

struct BootBuffer {
  std::string path;  // the instance kmemtrace_boot, or tracefs itself: the top-level buffer
  bool top_level = false;
  std::string clock;
  std::vector<EventName> events;  // that can be in it
  // Options that the parameters changed for all tracing, and their values without that.
  std::vector<std::pair<std::string, std::string>> to_restore;
};

// None when this boot was not traced, or its buffer has been given back. Throws Error when somebody else uses the
// top-level buffer.
std::optional<BootBuffer> find_boot_buffer(const std::string& tracefs, const BootParameters& parameters);

// Stops tracing in it and reads all of it. Of the hooks only `described` and `sampled` are called. The outcome's
// seconds are those since boot.
RecordOutcome collect_boot_buffer(const std::string& tracefs, const BootBuffer& buffer,
                                  const std::string& scratch_directory, const RecordHooks& hooks);

// Frees its memory: removes the instance, or leaves the top-level buffer as an untraced boot would have. False when
// the instance is kept open by somebody.
bool release_boot_buffer(const std::string& tracefs, const BootBuffer& buffer);

}  // namespace kmt
