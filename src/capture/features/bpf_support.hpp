// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether BPF programs on tracepoints can count and sample here.
#pragma once

#include <string>

namespace kmt {

// Missing features for BPF on tracepoints.
struct BpfSupport {
  std::string missing;  // may be empty
  std::string way_out;
  std::string caveat;  // a restriction of working BPF; may be empty
};
BpfSupport bpf_support();

}  // namespace kmt
