// SPDX-License-Identifier: GPL-2.0-or-later
// Constants of the trace.dat format, versions 6 and 7. Sources: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kmt::tracedat {

constexpr std::string_view kMagic = "\x17\x08\x44tracing";

// IDs of options. In version 7, a section has the ID of the option that refers to it.
enum OptionId : std::uint16_t {
  kDone = 0,
  kDate = 1,
  kCpuStat = 2,
  kBuffer = 3,  // the section has the data of a ring buffer
  kTraceClock = 4,
  kUname = 5,
  kHook = 6,
  kOffset = 7,
  kCpuCount = 8,
  kVersion = 9,
  kProcMaps = 10,
  kTraceId = 11,
  kTimeShift = 12,
  kGuest = 13,
  kTscToNs = 14,
  kStrings = 15,
  kHeaderInfo = 16,
  kFtraceEvents = 17,
  kEventFormats = 18,
  kKallsyms = 19,
  kPrintk = 20,
  kCmdLines = 21,
  kBufferText = 22,
  kBtfFile = 23,
};

// A note of a .kmt (KernelDescription::notes) for which trace.dat has no option. An option kCpuStat stores the heading
// and then the note.
struct CarriedNote {
  const char* name;
  std::string_view heading;
};
constexpr std::array<CarriedNote, 2> kCarriedNotes{
    {{"cpu_changes", "cpu changes:\n"}, {"recorder_tasks", "recorder tasks:\n"}}};

constexpr std::uint16_t kSectionCompressed = 1;  // section flag
constexpr std::uint64_t kSectionHeaderBytes = 16;

}  // namespace kmt::tracedat
