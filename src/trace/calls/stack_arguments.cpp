// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/calls/stack_arguments.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kWord = 8;

// Returns the offset of the first stack argument from the stack pointer, in bytes. On x86-64 (psABI), it follows the
// return address. On s390x (ELF ABI), it follows the area for saved registers. On AArch64 (AAPCS64), the offset is 0.
std::optional<std::uint32_t> first_offset(std::string_view machine) {
  if (machine == "x86_64") return 8;
  if (machine == "aarch64") return 0;
  if (machine == "s390x") return 160;
  return std::nullopt;
}

}  // namespace

unsigned argument_registers(std::string_view machine) {
  if (machine == "x86_64") return 6;
  if (machine == "s390x") return 5;
  if (machine == "aarch64" || machine == "riscv64" || machine == "ppc64le") return 8;
  if (machine.starts_with("armv")) return 4;
  return machine.size() == 4 && machine.starts_with('i') && machine.ends_with("86") ? 3 : 0;  // -mregparm=3
}

std::optional<std::uint32_t> stack_offset_of(const CallSignature& signature, const CallAbi& abi,
                                             std::size_t parameter) {
  const std::optional<std::uint32_t> first = first_offset(abi.arch);
  if (!first || parameter >= signature.parameters.size()) return std::nullopt;
  const bool x86 = abi.arch == "x86_64";
  const unsigned registers = argument_registers(abi.arch);
  unsigned used = 0;
  std::uint32_t words_before = 0;  // number of stack words that the preceding arguments use
  for (std::size_t i = 0; i <= parameter; ++i) {
    const ValueType& type = signature.parameters[i].type;
    if (type.kind == ValueKind::unknown) return std::nullopt;
    const bool is_structure = type.kind == ValueKind::structure;
    const std::uint32_t bytes = type.kind == ValueKind::string ? kWord : type.bytes;
    std::uint32_t words = (bytes + kWord - 1) / kWord;
    const bool by_reference = is_structure && ((abi.arch == "aarch64" && words > 2) ||
                                               (abi.arch == "s390x" && (bytes > kWord || (bytes & (bytes - 1)) != 0)));
    if (by_reference) words = 1;
    const bool in_memory = x86 && is_structure && words > 2;
    if (!in_memory && used + words <= registers) {
      used += words;
      continue;
    }
    // A scalar of several words may be aligned to more than a word, so its place on the stack is unknown.
    if (!is_structure && words > 1) return std::nullopt;
    if (!x86) used = registers;  // except on x86-64, all later arguments are on the stack if this one is
    if (i == parameter && !is_structure)
      return *first + kWord * words_before + (abi.byte_order == ByteOrder::big ? kWord - bytes : 0);
    words_before += words;
  }
  return std::nullopt;
}

}  // namespace kmt
