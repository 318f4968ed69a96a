// SPDX-License-Identifier: GPL-2.0-or-later
// Moves user-space code to artificial addresses. Each file gets its own address range, which is the same in all
// processes.
#pragma once

#include <cstdint>
#include <vector>

#include "anonymise/pseudonyms.hpp"
#include "trace/code/address_spaces.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt {

class UserLayout {
 public:
  explicit UserLayout(const UserMemory& memory);

  // Returns the new address. 0 stays 0. Addresses that belong to no file become 1.
  std::uint64_t moved(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const;

  // Returns the mappings at their new addresses, with pseudonyms for file names. Build IDs and symbols are removed,
  // because they identify files. Only the vDSO keeps its symbols, because it is part of the kernel.
  UserMemory memory(const UserMemory& from, const Pseudonyms& pseudonyms) const;

 private:
  AddressSpaces spaces_;
  std::vector<std::uint64_t> places_;  // index: object; value: the new address of file offset 0
};

}  // namespace kmt
