// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's account of its memory on many machines: which amounts grow, on which hosts, and since which kernel.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// An amount on all hosts with one kernel.
struct AccountOnKernel {
  std::string kernel;               // release; empty if unknown
  std::uint64_t hosts = 0;          // hosts with this kernel
  std::uint64_t growing_hosts = 0;  // hosts with at least one series in which the amount certainly grows
  std::uint64_t files = 0;          // snapshots and series
  std::uint64_t growing_files = 0;
  std::vector<std::string> growing_host_names;
  double bytes_per_s = 0;       // fastest certain growth; 0 if there is none
  std::int64_t last_bytes = 0;  // largest amount at the end of a file
};

struct AccountRow {
  std::string part;  // "balance", "slab_caches", …: the keys of series-json.md
  std::string name;
  std::vector<AccountOnKernel> kernels;  // oldest version first

  std::set<std::string> growing_host_names() const;
  std::uint64_t growing_hosts() const;  // a host counts once, even if it had several kernels
  double bytes_per_s() const;           // fastest certain growth on any kernel; 0 if there is none
  // Returns the kernel since which the amount grows: it grows on this kernel and on all newer kernels of the fleet.
  // Null if it does not grow on the newest kernel.
  const AccountOnKernel* since() const;
  // Returns the newest kernel of the fleet that is older than since(). The amount does not grow on it, and may be
  // missing there. Null if there is none.
  const AccountOnKernel* before() const;
};

struct FleetAccount {
  std::string selection;         // filters as text; empty: all
  std::uint64_t hosts = 0;       // selected hosts; each counts once, even if it had several kernels
  std::vector<AccountRow> rows;  // most growing hosts first, then fastest growth
};

// Compares kernel releases by the numbers in them: 6.9.1 is older than 6.12.0.
bool is_older_release(std::string_view a, std::string_view b);

}  // namespace kmt
