// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's description of itself and its tracing: with it, another machine can read the ring buffers' pages. Texts
// are the kernel's own files, byte for byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "trace/calls/types.hpp"
#include "trace/clock_scale.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt {

struct FormatText {
  std::string system;  // "kmem"; "ftrace" for the tracer's own records
  std::string text;    // events/SYSTEM/NAME/format
};

struct KernelDescription {
  std::string system_name;  // uname -s
  std::string node_name;    // uname -n
  std::string release;      // uname -r
  std::string version;      // uname -v
  std::string machine;      // uname -m
  ByteOrder byte_order = kHostOrder;
  unsigned long_bytes = sizeof(long);
  std::uint32_t page_size = 4096;         // of the machine; 0: unknown
  std::uint32_t sub_buffer_bytes = 4096;  // of the ring buffer: a page, unless somebody changed it
  unsigned cpus = 0;
  std::vector<int> cpu_nodes;  // NUMA node of each CPU
  std::string header_page;     // events/header_page
  std::string header_event;    // events/header_event
  std::vector<FormatText> formats;
  std::string kallsyms;  // /proc/kallsyms
  std::string printk_formats;
  std::string saved_cmdlines;  // "PID COMM" lines
  std::string thread_groups;   // "TID TGID" lines, as in saved_tgids
  std::string clock_choices;   // trace_clock: "[local] global …"
  std::string clock;           // the one in brackets
  ClockScale clock_scale;      // where its ticks are no nanoseconds
  CallTypes call_types;        // where calls are recorded
  UserMemory user_memory;      // where user stacks are
  // Other facts about the machine and the recording, by name: docs/formats/kmt.md, "Notes".
  std::map<std::string, std::string> notes;
  std::map<std::string, std::string> late_notes;  // those that become known while recording
};

}  // namespace kmt
