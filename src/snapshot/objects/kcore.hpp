// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the memory of the running kernel through /proc/kcore, which is an ELF core file (fs/proc/kcore.c in Linux 6.1,
// 6.12 and 7.3). Nothing is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/file.hpp"
#include "snapshot/objects/kernel_reader.hpp"

namespace kmt {

inline constexpr const char* kKcore = "/proc/kcore";

// A part of the kernel's addresses.
struct CoreSegment {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t physical = UINT64_MAX;  // UINT64_MAX: the addresses are not a direct map of RAM
  bool operator==(const CoreSegment&) const = default;
};
// Returns the segments in the headers of a 64-bit ELF core file. Throws Error if the bytes are something else.
std::vector<CoreSegment> core_segments(Bytes headers);

class Kcore : public KernelReader {
 public:
  // Throws Error with the reason if the kernel refuses access.
  explicit Kcore(std::string path = kKcore);

  bool read(std::uint64_t address, std::span<std::uint8_t> bytes) override;
  std::optional<std::uint64_t> page_offset() const override;  // empty if no segment shows it

 private:
  std::string path_;
  FileDescriptor file_;
  std::vector<CoreSegment> segments_;
};

}  // namespace kmt
