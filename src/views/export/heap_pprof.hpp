// SPDX-License-Identifier: GPL-2.0-or-later
// A kernel heap profile for `go tool pprof` and other readers of profile.proto (google/pprof).
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// Gzipped protobuf with alloc_objects, alloc_space, inuse_objects and inuse_space; estimates are rounded.
std::string pprof_profile(const HeapProfileResult& result, const SymbolNames& symbols);

}  // namespace kmt
