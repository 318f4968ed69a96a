// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the slab caches of the running kernel: its memory, types and symbols.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "snapshot/frames/frames.hpp"
#include "snapshot/objects/kernel_reader.hpp"
#include "snapshot/objects/slabs.hpp"
#include "symbols/btf.hpp"
#include "trace/state/slab_layout.hpp"

namespace kmt {

inline constexpr const char* kKernelTypes = "/sys/kernel/btf/";  // folder with the types of the kernel and its modules

// The list of all caches and the descriptors of some pages fit into this.
constexpr std::uint64_t kLeastBytesToRead = 1 << 20;

class LiveSlabs {
 public:
  // Reads with `memory`, or from /proc/kcore if `memory` is null. With `memory`, reads only the kernel's image and RAM
  // that the kernel maps directly, because other addresses may be registers of devices. /proc/kcore lacks these. Reads
  // at most `most_bytes`. Throws Error if the kernel's memory, types or symbols cannot be read.
  LiveSlabs(std::unique_ptr<KernelReader> memory, std::uint64_t most_bytes);

  bool has_kcore() const { return has_kcore_; }
  LimitedReader& memory() { return memory_; }
  FrameFiles& frames() { return frames_; }
  const Btf& types() const { return types_; }
  const std::string& kallsyms() const { return kallsyms_; }
  const SlabAddresses& addresses() const { return addresses_; }
  Slabs& slabs() { return slabs_; }
  const Slabs& slabs() const { return slabs_; }

 private:
  SlabAddresses find_addresses();
  void find_x86_map(SlabAddresses& found);
  void find_arm64_map(SlabAddresses& found);
  KernelReader& limited_memory();

  bool has_kcore_;
  LimitedReader memory_;
  FrameFiles frames_;
  Btf types_;
  SlubLayout layout_;
  std::string kallsyms_;
  SlabAddresses addresses_;
  Slabs slabs_;
};

}  // namespace kmt
