// SPDX-License-Identifier: GPL-2.0-or-later
// Splits a call chain into its kernel and user parts. Since Linux 6.19, the kernel may record the user part later, when
// the task returns to the program (perf record --call-graph fp,defer).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/flat_map.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/sample.hpp"

namespace kmt::perfdata {

// Returns the addresses of the kernel, innermost first, at most 256. Skips addresses of user space or a hypervisor.
void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses);

// The user stacks that the kernel recorded later. A program may stay in the kernel for long, so a record may follow its
// samples at any distance.
class DeferredStacks {
 public:
  // Reads all records of the file if one of its events defers stacks. Does not report damage, because the reader of the
  // events does.
  DeferredStacks(Bytes file, const FileContents& contents);

  // Returns the addresses of the record with this cookie, innermost first, at most 256. Empty if there is no record.
  std::optional<std::span<const std::uint64_t>> of(std::uint64_t cookie) const;

 private:
  struct Place {
    std::uint32_t begin = 0;  // in addresses_
    std::uint32_t count = 0;
  };
  FlatMap<Place> places_;  // key: cookie
  std::vector<std::uint64_t> addresses_;
};

// Returns the user-space addresses, innermost first, at most 256. With --call-graph dwarf, the sample has registers and
// a copy of the stack instead of these addresses. kmemtrace does not unwind such a stack, and returns only the program
// counter. Returns false if the stack was deferred, and its record is missing.
[[nodiscard]] bool user_stack(const Sample& sample, const DeferredStacks& deferred, ByteOrder order,
                              std::vector<std::uint64_t>& addresses);

}  // namespace kmt::perfdata
