// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/kernel_memory.hpp"

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "capture/bpf/memory_program.hpp"
#include "snapshot/objects/kcore.hpp"

namespace kmt {

namespace {

class BpfReader : public KernelReader {
 public:
  bool read(std::uint64_t address, std::span<std::uint8_t> bytes) override { return memory_.read(address, bytes); }

 private:
  MemoryProgram memory_;
};

}  // namespace

std::unique_ptr<KernelReader> memory_without_kcore() {
  std::error_code code;
  if (std::filesystem::is_regular_file(kKcore, code)) return nullptr;  // in containers, it is a device or missing
  try {
    return std::make_unique<BpfReader>();
  } catch (Error& error) {
    throw error.context("There is no /proc/kcore. Reading the kernel's memory with a BPF program");
  }
}

}  // namespace kmt
