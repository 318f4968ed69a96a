// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's description of the machine and of its tracing. Reading ring buffer pages on another machine requires
// this description. The texts are unmodified files of the kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "trace/calls/types.hpp"
#include "trace/clock_scale.hpp"
#include "trace/code/kallsyms_text.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt {

struct FormatText {
  std::string system;  // name of the event system: "kmem"; "ftrace" for the function and function graph tracers
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
  std::uint32_t page_size = 4096;         // page size of the machine; 0: unknown
  std::uint32_t sub_buffer_bytes = 4096;  // size of a ring buffer page (sub-buffer) in bytes; usually page_size
  unsigned cpus = 0;
  std::vector<int> cpu_nodes;  // NUMA node of each CPU
  std::string header_page;     // events/header_page
  std::string header_event;    // events/header_event
  std::vector<FormatText> formats;
  KallsymsText kallsyms;  // /proc/kallsyms
  std::string printk_formats;
  std::string saved_cmdlines;  // text of lines "PID COMM"
  std::string thread_groups;   // text of lines "TID TGID", like the kernel's file saved_tgids
  std::string clock_choices;   // text of the file trace_clock: "[local] global …"
  std::string clock;           // the current clock, which is in brackets in clock_choices
  ClockScale clock_scale;      // set if the ticks of the clock are not nanoseconds
  CallTypes call_types;        // set if function calls are recorded
  UserMemory user_memory;      // set if user stacks are recorded
  // Other facts about the machine and the recording, by name. See docs/formats/kmt.md, "Notes".
  std::map<std::string, std::string> notes;
  std::map<std::string, std::string> late_notes;  // notes that are added when the recording ends
};

}  // namespace kmt
