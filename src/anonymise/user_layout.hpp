// SPDX-License-Identifier: GPL-2.0-or-later
// Code of programs moved to where it is in no process: each file has a place of its own, the same in all of them.
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

  // 0 stays; what is in no file becomes 1.
  std::uint64_t moved(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const;

  // The same code at its new place, in files with other names. Build-ids and symbols would identify them and are gone,
  // except those of the vDSO, which are the kernel's.
  UserMemory memory(const UserMemory& from, const Pseudonyms& pseudonyms) const;

 private:
  AddressSpaces spaces_;
  std::vector<std::uint64_t> places_;  // of objects: where offset 0 lies
};

}  // namespace kmt
