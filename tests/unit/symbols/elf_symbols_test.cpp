// SPDX-License-Identifier: GPL-2.0-or-later
// Tests to which symbol an address of a program belongs, with a hand-made file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/elf_symbols.hpp"

namespace kmt {
namespace {

struct Made {
  std::uint64_t address;
  std::uint64_t size;
  unsigned char type;
  const char* name;
  std::uint16_t section = 1;  // .text
};

// Makes an ELF file with .text from 0x1000 to 0x2000, data after .text, and these symbols.
FileDescriptor program(const std::vector<Made>& symbols) {
  std::vector<Elf64_Sym> table(1);
  std::string names(1, '\0');
  for (const Made& made : symbols) {
    Elf64_Sym& symbol = table.emplace_back();
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, made.type);
    symbol.st_shndx = made.section;
    symbol.st_value = made.address;
    symbol.st_size = made.size;
    names.append(made.name).append(1, '\0');
  }
  const std::uint64_t table_bytes = table.size() * sizeof(Elf64_Sym);
  Elf64_Shdr sections[5] = {};
  const std::uint64_t table_at = sizeof(Elf64_Ehdr) + sizeof sections;
  sections[1].sh_type = SHT_NOBITS;
  sections[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  sections[1].sh_addr = sections[1].sh_size = 0x1000;
  sections[2].sh_type = SHT_NOBITS;
  sections[2].sh_flags = SHF_ALLOC | SHF_WRITE;
  sections[2].sh_addr = 0x2000;
  sections[2].sh_size = 0x1000;
  sections[3].sh_type = SHT_SYMTAB;
  sections[3].sh_offset = table_at;
  sections[3].sh_size = table_bytes;
  sections[3].sh_link = 4;
  sections[3].sh_entsize = sizeof(Elf64_Sym);
  sections[4].sh_type = SHT_STRTAB;
  sections[4].sh_offset = table_at + table_bytes;
  sections[4].sh_size = names.size();

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;

  FileDescriptor file(::memfd_create("program", MFD_CLOEXEC));
  const auto append = [&file](const void* bytes, std::size_t count) {
    EXPECT_EQ(::write(file.get(), bytes, count), static_cast<ssize_t>(count));
  };
  append(&header, sizeof header);
  append(sections, sizeof sections);
  append(table.data(), table_bytes);
  append(names.data(), names.size());
  return file;
}

std::string name_at(ElfSymbols& symbols, std::uint64_t address) {
  const auto function = symbols.at(address);
  return function ? std::string(function->name) + "+" + std::to_string(function->offset) : "";
}

TEST(ElfSymbols, NameAssemblerCodeWithoutTypeAndSize) {
  ElfSymbols symbols(program({{0x1000, 0, STT_NOTYPE, "_start"},
                              {0x1100, 0x80, STT_FUNC, "sized"},
                              {0x1140, 0, STT_NOTYPE, "label_inside"},
                              {0x1200, 0, STT_NOTYPE, "last"},
                              {0x2000, 0, STT_NOTYPE, "data", 2}}),
                     "made");
  EXPECT_EQ(name_at(symbols, 0xfff), "");
  EXPECT_EQ(name_at(symbols, 0x1010), "_start+16");
  EXPECT_EQ(name_at(symbols, 0x1110), "sized+16");
  EXPECT_EQ(name_at(symbols, 0x1150), "sized+80");
  EXPECT_EQ(name_at(symbols, 0x1190), "") << "after a function with a known size";
  EXPECT_EQ(name_at(symbols, 0x1fff), "last+3583");
  EXPECT_EQ(name_at(symbols, 0x2000), "") << "no code";
}

}  // namespace
}  // namespace kmt
