// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces names and numbers of a traced machine with pseudonyms. Without the key, this cannot be reversed. Equal names
// get equal pseudonyms, and different names get different ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "anonymise/keyed_hash.hpp"

namespace kmt {

class Pseudonyms {
 public:
  // `word_bits` is the size of the kernel's addresses: 32 or 64.
  Pseudonyms(const PseudonymKey& key, unsigned word_bits);

  // Returns a name like "task-0123456789". It has 15 bytes, the kernel's limit for a name. Two names get the same
  // pseudonym with a probability of 1 in 2⁴⁰.
  std::string task(std::string_view name) const;
  std::string host(std::string_view name) const;
  std::string id(std::string_view text) const;  // a pseudonym of 16 hexadecimal digits
  // Replaces each word of the path separately. Words that show the kind of a service or container do not change
  // (system.slice, docker-).
  std::string path(std::string_view path) const;
  // Replaces the path of a program. The file name is shortened to 15 bytes, as in the name of a task that executes
  // the program, and replaced by task().
  std::string program(std::string_view path) const;
  // Replaces the name of a cgroup in the name of a cache, such as "dentry(17:docker)" before Linux 5.9. Other cache
  // names stay.
  std::string cache(std::string_view name) const;

  // Replaces a data address. The position within a block of 32 KiB does not change, so objects of one slab stay
  // adjacent. Addresses in the first and in the last block do not change: they include NULL, ERR_PTR() and
  // ZERO_SIZE_PTR.
  std::uint64_t address(std::uint64_t address) const;
  // Replaces a page frame number. The position within a block of 2¹⁸ pages does not change. So an allocation of pages
  // stays contiguous: its order is at most 18 (a huge page of 1 GiB). -1 means "no page" and does not change.
  std::uint64_t frame(std::uint64_t frame) const;
  static constexpr unsigned kFrameBlockBits = 18;

 private:
  std::uint64_t hash(std::string_view text) const;
  std::uint64_t permute(std::uint64_t number, unsigned bits) const;
  template <typename IsKept>
  std::uint64_t permute_others(std::uint64_t number, unsigned bits, IsKept&& is_kept) const;

  PseudonymKey key_;
  unsigned word_bits_;
};

}  // namespace kmt
