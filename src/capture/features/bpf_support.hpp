// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether BPF programs on tracepoints can count and sample events on this system.
#pragma once

#include <string>

namespace kmt {

// Describes what prevents BPF programs on tracepoints.
struct BpfSupport {
  std::string missing;  // missing feature; empty if none
  std::string way_out;
  std::string caveat;  // a limitation of BPF programs on this kernel; empty if none
};
BpfSupport bpf_support();

}  // namespace kmt
