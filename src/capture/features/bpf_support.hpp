// SPDX-License-Identifier: GPL-2.0-or-later
// Whether BPF programs on tracepoints can count and sample here.
#pragma once

#include <string>

namespace kmt {

// What BPF on tracepoints lacks here.
struct BpfSupport {
  std::string missing;  // empty: nothing
  std::string way_out;
  std::string caveat;  // what is worse here, though it works; empty: nothing
};
BpfSupport bpf_support();

}  // namespace kmt
