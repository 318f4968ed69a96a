// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/pseudonyms.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "anonymise/keyed_hash.hpp"

namespace kmt {

namespace {

// Words in cgroup names that are kept, because they show the kind of a cgroup but not its owner. They are from systemd
// and container runtimes (trace/tasks/processes.hpp).
constexpr std::string_view kKinds[] = {"besteffort", "burstable", "conmon",     "containerd", "cri",      "crio",
                                       "docker",     "garden",    "guaranteed", "init",       "kubepods", "libpod",
                                       "lxc",        "machine",   "mount",      "nspawn",     "payload",  "pod",
                                       "scope",      "service",   "session",    "slice",      "socket",   "system",
                                       "systemd",    "user",      "app",        "monitor"};

bool is_word(char byte) { return std::isalnum(static_cast<unsigned char>(byte)) != 0 || (byte & 0x80) != 0; }

// True for addresses in the first or last 4 KiB. The kernel's headers define that these values do not point to memory:
// NULL, ZERO_SIZE_PTR (include/linux/slab.h), IS_ERR_VALUE (include/linux/err.h).
bool is_no_pointer(std::uint64_t address, unsigned word_bits) {
  const std::uint64_t last = word_bits == 32 ? 0xFFFFFFFFu : ~std::uint64_t{0};
  return address < 4096 || address > last - 4096;
}

// Number of low address bits that are kept. By default, a slab has at most 2^3 pages (slub_max_order), which are 2^15
// bytes.
constexpr unsigned kSlabBits = 15;

// Returns a number whose lowest `bits` bits are set. `bits` is less than 64.
constexpr std::uint64_t lowest(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

Pseudonyms::Pseudonyms(const PseudonymKey& key, unsigned word_bits) : key_(key), word_bits_(word_bits) {}

std::uint64_t Pseudonyms::hash(std::string_view text) const { return keyed_hash(key_, text); }

std::string Pseudonyms::task(std::string_view name) const {
  // The names of idle tasks, and the names that tools print for unknown tasks, do not identify the machine.
  if (name.empty() || name == "<idle>" || name == "<...>" || name.starts_with("swapper/")) return std::string(name);
  return fmt::format("task-{:010x}", hash(name) >> 24);
}

std::string Pseudonyms::host(std::string_view name) const {
  return name.empty() ? "" : fmt::format("host-{:08x}", hash(name) >> 32);
}

std::string Pseudonyms::id(std::string_view text) const {
  return text.empty() ? "" : fmt::format("{:016x}", hash(text));
}

std::string Pseudonyms::path(std::string_view path) const {
  std::string result;
  for (std::size_t at = 0; at < path.size();) {
    const auto* const end = std::find_if(path.begin() + at, path.end(), [](char byte) { return !is_word(byte); });
    const std::string_view word = path.substr(at, static_cast<std::size_t>(end - (path.begin() + at)));
    if (word.empty()) {
      result += path[at++];
      continue;
    }
    if (std::ranges::find(kKinds, word) != std::end(kKinds))
      result += word;
    else if (word.size() >= 32)  // long words are IDs of containers
      for (std::size_t digits = 0; digits < word.size() / 16 * 16; digits += 16) result += id(word);
    else
      result += fmt::format("{:08x}", hash(word) >> 32);
    at += word.size();
  }
  return result;
}

std::string Pseudonyms::program(std::string_view path) const {
  constexpr std::size_t kNameBytes = 15;         // maximum length of a task name (TASK_COMM_LEN includes the NUL)
  const std::size_t name = path.rfind('/') + 1;  // 0 if there is no slash, because npos + 1 is 0
  return this->path(path.substr(0, name)) + task(path.substr(name).substr(0, kNameBytes));
}

std::string Pseudonyms::cache(std::string_view name) const {
  const std::size_t open = name.find('(');
  if (open == std::string_view::npos) return std::string(name);
  return fmt::format("{}({:08x})", name.substr(0, open), hash(name.substr(open)) >> 32);
}

// Replaces a number that has `bits` bits by another one, with a Feistel network of four rounds. Such a network is a
// permutation for any round function (Luby and Rackoff, "How to construct pseudorandom permutations", 1988).
std::uint64_t Pseudonyms::permute(std::uint64_t number, unsigned bits) const {
  const unsigned half = bits / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t left = number >> half & mask;
  std::uint64_t right = number & mask;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const std::uint64_t words[] = {round << 8 | bits, right};
    char text[sizeof words];
    std::memcpy(text, words, sizeof words);
    const std::uint64_t next = left ^ (hash({text, sizeof text}) & mask);
    left = right;
    right = next;
  }
  return left << half | right;
}

// Replaces the numbers for which `is_kept` is false, and never by one for which it is true. Each pass continues the
// cycle of the permutation, which leads back to the first number, so different numbers still get different results.
template <typename IsKept>
std::uint64_t Pseudonyms::permute_others(std::uint64_t number, unsigned bits, IsKept&& is_kept) const {
  if (is_kept(number)) return number;
  do {
    number = permute(number, bits);
  } while (is_kept(number));
  return number;
}

std::uint64_t Pseudonyms::address(std::uint64_t address) const {
  // Only the middle bits are replaced. The lowest kSlabBits are kept. The highest bits, which are equal for nearly all
  // kernel memory, are kept too: 9 bits of a 64-bit address, and 1 bit of a 32-bit address.
  const unsigned bits = word_bits_ == 32 ? 16 : 40;
  const std::uint64_t permuted = lowest(bits) << kSlabBits;
  const std::uint64_t high = address & ~(permuted | lowest(kSlabBits));
  const auto has_no_pointers = [&](std::uint64_t block) {
    const std::uint64_t begin = high | block << kSlabBits;
    return is_no_pointer(begin, word_bits_) || is_no_pointer(begin | lowest(kSlabBits), word_bits_);
  };
  const std::uint64_t block = permute_others((address & permuted) >> kSlabBits, bits, has_no_pointers);
  return (address & ~permuted) | block << kSlabBits;
}

std::uint64_t Pseudonyms::frame(std::uint64_t frame) const {
  const std::uint64_t no_page = word_bits_ == 32 ? lowest(32) : ~std::uint64_t{0};
  if (frame == no_page) return frame;
  const unsigned bits = word_bits_ == 32 ? 14 : 32;
  const std::uint64_t permuted = lowest(bits) << kFrameBlockBits;
  const auto has_no_page = [&](std::uint64_t block) {
    return ((frame & ~permuted) | block << kFrameBlockBits | lowest(kFrameBlockBits)) == no_page;
  };
  const std::uint64_t block = permute_others((frame & permuted) >> kFrameBlockBits, bits, has_no_page);
  return (frame & ~permuted) | block << kFrameBlockBits;
}

}  // namespace kmt
