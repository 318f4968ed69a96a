// SPDX-License-Identifier: GPL-2.0-or-later
// A sampled profile of the kernel's heap. Each estimate has a 95 % confidence interval.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/heap_sample.hpp"

namespace kmt {

struct Estimate {
  double value = 0;  // unbiased
  double low = 0;    // confidence interval: in 95 % of all profiles, the true value is between `low` and `high`
  double high = 0;
};

// Rounds an estimated count or number of bytes to an integer below 2^63.
std::uint64_t rounded(double estimate);

// Returns the losses that occurred between two readings of the counters.
HeapLosses difference(const HeapLosses& from, HeapLosses to);

struct HeapFigures {
  std::uint64_t samples = 0;
  std::uint64_t live_samples = 0;
  Estimate objects;  // allocated objects
  Estimate bytes;
  Estimate requested;  // requested bytes of the estimated objects
  Estimate live_objects;
  Estimate live_bytes;
};

// Keys by which samples are grouped.
enum class HeapKey : std::uint8_t { call_site, caller, stack, process, cache, cgroup, module, subsystem, directory };

struct HeapKeyInfo {
  HeapKey key;
  std::string_view name;    // name of the key in the option --by
  std::string_view header;  // header of the key's column in tables
};
std::span<const HeapKeyInfo> heap_keys();
const HeapKeyInfo& info_of(HeapKey key);

struct HeapRow {
  std::vector<std::string> keys;     // values in the order of HeapProfileResult::by; for a stack, the innermost frame
  std::vector<std::uint64_t> stack;  // set if one of the keys is the stack; innermost frame first
  bool pages = false;
  bool slab_pages = false;  // true: pages of slabs; the objects in them are sampled separately
  bool user_pages = false;  // true: according to their stacks, pages of user memory or of the page cache
  HeapFigures figures;
};

// The most detailed rows. Output formats that group rows themselves use these rows.
struct HeapStackRow {
  std::vector<std::uint64_t> stack;  // innermost first
  std::string cache;
  std::string task;  // name of the process, such as "bash"; for interrupts, "[softirq]" for example
  std::uint32_t process = 0;
  std::string cgroup;
  bool pages = false;
  HeapFigures figures;
};

struct HeapProfileResult : HeapProfileFacts {
  HeapFigures slab;
  HeapFigures pages;
  std::vector<HeapKey> by;
  std::vector<HeapRow> rows;         // sorted by live bytes, then by allocated bytes
  std::vector<HeapStackRow> stacks;  // from HeapProfile::stacks(), sorted by live bytes, then by allocated bytes
};

}  // namespace kmt
