// SPDX-License-Identifier: GPL-2.0-or-later
// Reads how many objects the slab caches of the running kernel have.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

class KernelCaches {
 public:
  // If /proc/slabinfo has no caches, loads a BPF program that lists them (Linux 6.13). Call it while the process may
  // load programs.
  KernelCaches();
  ~KernelCaches();
  KernelCaches(KernelCaches&&) noexcept;
  KernelCaches& operator=(KernelCaches&&) noexcept;

  // Returns the caches in the text of /proc/slabinfo. If the text has none, returns the caches that the BPF program
  // lists (it omits caches whose objects it cannot count), or nothing if there is no program.
  std::vector<SlabInfo> read(std::string_view slabinfo) const;
  // Does the same with the current text.
  std::vector<SlabInfo> read() const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace kmt
