// SPDX-License-Identifier: GPL-2.0-or-later
// A sampled profile of the kernel's heap: estimates, each with its 95 % confidence interval.
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
  double low = 0;    // the true one lies between these in 95 % of all profiles
  double high = 0;
};

// As a count or as bytes: below 2^63.
std::uint64_t rounded(double estimate);

// Losses between two readings.
HeapLosses difference(const HeapLosses& from, HeapLosses to);

struct HeapFigures {
  std::uint64_t samples = 0;
  std::uint64_t live_samples = 0;
  Estimate objects;  // allocated
  Estimate bytes;
  Estimate requested;  // of these
  Estimate live_objects;
  Estimate live_bytes;
};

// Keys that group samples.
enum class HeapKey : std::uint8_t { call_site, caller, stack, process, cache, cgroup };

struct HeapKeyInfo {
  HeapKey key;
  std::string_view name;    // the word for --by
  std::string_view header;  // of its column
};
std::span<const HeapKeyInfo> heap_keys();
const HeapKeyInfo& info_of(HeapKey key);

struct HeapRow {
  std::vector<std::string> keys;     // in the order of HeapProfileResult::by; of a stack: its innermost frame
  std::vector<std::uint64_t> stack;  // innermost first, where that is a key
  bool pages = false;
  HeapFigures figures;
};

// The finest rows, for formats that group by themselves.
struct HeapStackRow {
  std::vector<std::uint64_t> stack;  // innermost first
  std::string cache;
  std::string task;  // "bash", "[softirq]"
  std::uint32_t process = 0;
  std::string cgroup;
  bool pages = false;
  HeapFigures figures;
};

struct HeapProfileResult : HeapProfileFacts {
  HeapFigures slab;
  HeapFigures pages;
  std::vector<HeapKey> by;
  std::vector<HeapRow> rows;         // by live bytes, then by bytes
  std::vector<HeapStackRow> stacks;  // likewise, of HeapProfile::stacks()
};

}  // namespace kmt
