// SPDX-License-Identifier: GPL-2.0-or-later
// A profile of the kernel's heap for `go tool pprof` and all that reads its format (profile.proto of google/pprof).
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// Gzipped protobuf, with alloc_objects, alloc_space, inuse_objects and inuse_space; estimates are rounded.
std::string pprof_profile(const HeapProfileResult& result, const SymbolNames& symbols);

}  // namespace kmt
