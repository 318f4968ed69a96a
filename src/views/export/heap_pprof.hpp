// SPDX-License-Identifier: GPL-2.0-or-later
// Exports a heap profile of the kernel for `go tool pprof` and other programs that read profile.proto (google/pprof).
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// Returns gzipped protobuf with the sample types alloc_objects, alloc_space, inuse_objects and inuse_space. Estimates
// are rounded.
std::string pprof_profile(const HeapProfileResult& result, const SymbolNames& symbols);

}  // namespace kmt
