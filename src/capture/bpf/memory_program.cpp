// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/memory_program.hpp"

#include <algorithm>
#include <cstring>

#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/memory.h"
#include "capture/bpf/programs/memory.skel.h"

namespace kmt {

namespace {

using Object = BpfSkeleton<memory_bpf, memory_bpf__create_skeleton, memory_bpf__load, memory_bpf__destroy>;

}  // namespace

struct MemoryProgram::State {
  Object object;

  bool read_some(std::uint64_t address, std::span<std::uint8_t> bytes) {
    auto& shared = *object->bss;
    static_assert(sizeof(shared.memory) == KMT_MEMORY_BYTES);
    shared.address = address;
    shared.size = static_cast<std::uint32_t>(bytes.size());
    shared.error = -1;
    LIBBPF_OPTS(bpf_test_run_opts, options);
    if (const int error = bpf_prog_test_run_opts(bpf_program__fd(object->progs.read_memory), &options))
      throw_bpf_error("Cannot run the BPF program that reads the kernel's memory", -error);
    if (shared.error != 0) return false;
    std::memcpy(bytes.data(), shared.memory, bytes.size());
    return true;
  }
};

MemoryProgram::MemoryProgram() : state_(std::make_unique<State>()) {
  state_->object.load();
  std::uint8_t byte = 0;
  state_->read_some(0, {&byte, 1});  // throws if the kernel does not run the program
}

MemoryProgram::~MemoryProgram() = default;

bool MemoryProgram::read(std::uint64_t address, std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes.size(), KMT_MEMORY_BYTES);
    if (!state_->read_some(address, bytes.first(size))) return false;
    address += size;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace kmt
