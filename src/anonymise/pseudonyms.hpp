// SPDX-License-Identifier: GPL-2.0-or-later
// Replacements for names and numbers of a traced machine. They cannot be undone without the key. Equal ones stay equal,
// different ones stay different.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kmt {

using PseudonymKey = std::array<std::uint8_t, 16>;

// A key that is kept nowhere.
PseudonymKey random_key();
// The key that follows from a secret of any length: traces anonymised with the same one can be compared.
PseudonymKey key_of(std::string_view secret);

class Pseudonyms {
 public:
  // `word_bits`: of the kernel's addresses, 32 or 64.
  Pseudonyms(const PseudonymKey& key, unsigned word_bits);

  // "task-0123456789", the 15 bytes that the kernel has for a name. Two names collide with a chance of 1 in 2⁴⁰.
  std::string task(std::string_view name) const;
  std::string host(std::string_view name) const;
  std::string id(std::string_view text) const;  // hexadecimal digits
  // Each part by itself; what says which kind of service or container it is (system.slice, docker-) stays.
  std::string path(std::string_view path) const;
  // The path of a program. Its last part is the kernel's name of a task that executes it.
  std::string program(std::string_view path) const;
  // A cache of a memory cgroup, as kernels before 5.9 had them: "dentry(17:docker)". Others keep their name.
  std::string cache(std::string_view name) const;

  // An address of memory, not of code. The place in a block of 32 KiB stays, so that objects of a slab stay neighbours.
  // NULL, ERR_PTR() and ZERO_SIZE_PTR stay, too.
  std::uint64_t address(std::uint64_t address) const;
  // Neighbours in a block of 2¹³ pages stay neighbours, more than any order has; -1, no page, stays.
  std::uint64_t frame(std::uint64_t frame) const;

 private:
  std::uint64_t hash(std::string_view text) const;
  std::uint64_t permute(std::uint64_t number, unsigned bits) const;

  PseudonymKey key_;
  unsigned word_bits_;
};

}  // namespace kmt
