// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the memory of the running kernel with a BPF program. Nothing is written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace kmt {

class MemoryProgram {
 public:
  // Throws Error if the kernel refuses the program, for example because of lockdown. Needs Linux 5.10.
  MemoryProgram();
  ~MemoryProgram();
  MemoryProgram(const MemoryProgram&) = delete;
  MemoryProgram& operator=(const MemoryProgram&) = delete;

  // Fills all of `bytes`. Returns false if some of them cannot be read. The caller must make sure that the addresses
  // are memory, because a read of a device's register may change the state of the device.
  bool read(std::uint64_t address, std::span<std::uint8_t> bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
