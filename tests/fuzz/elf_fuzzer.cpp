// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as a program, a kernel or a module with debug info. Reading symbols, lines and inlined functions
// must not crash, hang or use excessive memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <fcntl.h>

#include "base/error.hpp"
#include "memory_file.hpp"
#include "symbols/debug_info.hpp"
#include "symbols/elf_symbols.hpp"

namespace {

// Maximum number of addresses that are looked up in an input. Each look-up takes time.
constexpr std::size_t kMostAddresses = 64;

void read_symbols(const std::string& path) {
  kmt::ElfSymbols symbols(kmt::open_file(path, O_RDONLY), path);
  for (std::uint64_t offset = 0; offset < 0x4000; offset += 0x40) {
    const std::uint64_t address = symbols.address_of(offset);
    if (const auto function = symbols.at(address)) {
      if (function->offset > address) std::abort();
      (void)kmt::demangled(function->name);
    }
  }
}

void read_debug_info(const std::string& path) {
  kmt::DebugInfo info(path);
  std::size_t addresses = 0;
  for (const kmt::DebugInfo::Symbol& symbol : info.code_symbols()) {
    if (symbol.section >= info.sections().size()) std::abort();
    for (const std::uint64_t offset : {0u, 9u})
      if (++addresses <= kMostAddresses) (void)info.frames(symbol.address + offset);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const kmt::MemoryFile file(data, size);
  try {
    read_symbols(file.path());
  } catch (const kmt::Error&) {
    // expected: the input is not a program
  }
  try {
    read_debug_info(file.path());
  } catch (const kmt::Error&) {
    // expected: the debug info is damaged
  }
  return 0;
}
