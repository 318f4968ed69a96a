// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/memory_state.hpp"

#include <chrono>

#include <fmt/format.h>

#include "base/file.hpp"

namespace kmt {

StateSample sample_memory_state() {
  StateSample sample;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  sample.unix_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  for (const char* const name : kMemoryStateFiles)
    if (auto text = try_read_file(std::string("/proc/") + name)) sample.texts.emplace_back(name, std::move(*text));
  return sample;
}

void add_recorder(StateSample& sample, const RecorderMemory& memory) {
  sample.texts.emplace_back("recorder",
                            fmt::format("ring_buffers {}\nbpf_maps {}\n", memory.ring_buffers, memory.bpf_maps));
}

}  // namespace kmt
